#include "windhover/tools/reproduce/data_sets.h"

#include <zlib.h>

#include <map>
#include <memory>
#include <numeric>
#include <unordered_set>

#include "windhover/platform/random.h"
#include "windhover/tools/data/table.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

namespace {

constexpr std::uint32_t kBytes = 8;  // the type in the third byte of an idx file

Eigen::Map<const RowMatrix> matrix_of(const Dataset& data) {
  return {data.features.data(), static_cast<Index>(data.rows()),
          static_cast<Index>(data.columns())};
}

}  // namespace

IdxFile read_idx(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  const auto read = [&](std::uint8_t* out, std::size_t size) {
    if (file && gzread(file.get(), out, static_cast<unsigned>(size)) == static_cast<int>(size))
      return;
    throw UserError(fmt::format("{} is not a whole idx file of bytes", path));
  };
  std::array<std::uint8_t, 4> word;
  const auto next = [&] {
    read(word.data(), word.size());
    return std::uint32_t{word[0]} << 24 | std::uint32_t{word[1]} << 16 |
           std::uint32_t{word[2]} << 8 | word[3];
  };
  const std::uint32_t magic = next();
  if (magic >> 8 != kBytes || (magic & 0xff) == 0 || (magic & 0xff) > 3) {
    throw UserError(fmt::format("{} is not an idx file of bytes", path));
  }
  IdxFile out;
  std::size_t size = 1;
  for (std::uint32_t i = 0; i < (magic & 0xff); ++i) {
    out.sizes.push_back(next());
    size *= out.sizes.back();
    if (size > std::size_t{1} << 30) throw UserError(fmt::format("{} says it is too large", path));
  }
  out.bytes.resize(size);
  read(out.bytes.data(), size);
  return out;
}

void describe(Dataset& data, std::size_t columns) {
  data.names.clear();
  for (std::size_t j = 0; j < columns; ++j) data.names.push_back(std::to_string(j + 1));
  const auto x = matrix_of(data);
  const Eigen::RowVectorXd mean = x.colwise().mean();
  const Eigen::RowVectorXd squares =
      (x.rowwise() - mean).colwise().squaredNorm() / static_cast<double>(data.rows());
  data.mean.assign(mean.data(), mean.data() + columns);
  data.sd.resize(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    data.sd[j] = std::sqrt(squares[static_cast<Index>(j)]);
  }
}

Dataset digits_of(const IdxFile& images, const IdxFile& labels, const std::string& path) {
  if (images.sizes.size() != 3 || labels.sizes.size() != 1) {
    throw UserError(fmt::format("{}: images need three sizes and labels one", path));
  }
  if (images.sizes[0] != labels.sizes[0]) {
    throw UserError(fmt::format("{} has {} images, but there are {} labels", path, images.sizes[0],
                                labels.sizes[0]));
  }
  if (images.bytes.empty()) throw UserError(fmt::format("{} has no images", path));
  for (const std::uint8_t label : labels.bytes) {
    if (label > 9) throw UserError(fmt::format("{}: a label is {}, not 0 to 9", path, label));
  }
  Dataset data;
  data.target_name = "digit";
  data.features.reserve(images.bytes.size());
  for (const std::uint8_t pixel : images.bytes) data.features.push_back(pixel / 255.0);
  data.targets.assign(labels.bytes.begin(), labels.bytes.end());
  describe(data, images.bytes.size() / labels.bytes.size());
  return data;
}

Dataset load_mnist(const Context& context, bool training) {
  const std::string images = context.file(kMnistFiles[training ? 0 : 2]);
  const std::string labels = context.file(kMnistFiles[training ? 1 : 3]);
  return digits_of(read_idx(images), read_idx(labels), images);
}

Dataset random_projection(const Dataset& data, std::size_t dimension, std::uint64_t seed) {
  const auto columns = static_cast<Index>(data.columns());
  const auto d = static_cast<Index>(dimension);
  MatrixXd projection(columns, d);
  fill_normals(seed, {.purpose = Purpose::kTest}, entries_of(projection));
  projection /= std::sqrt(static_cast<double>(columns));
  Dataset out;
  out.target_name = data.target_name;
  out.targets = data.targets;
  out.features.resize(data.rows() * dimension);
  Eigen::Map<RowMatrix>(out.features.data(), static_cast<Index>(data.rows()), d).noalias() =
      matrix_of(data) * projection;
  describe(out, dimension);
  return out;
}

std::vector<double> largest_of(const std::vector<double>& features, std::size_t columns) {
  std::vector<double> largest(columns);
  for (std::size_t i = 0; i < features.size(); ++i) {
    largest[i % columns] = std::max(largest[i % columns], std::abs(features[i]));
  }
  return largest;
}

void standardize(Dataset& data, const Dataset& by) {
  for (std::size_t i = 0; i < data.features.size(); ++i) {
    const std::size_t j = i % data.columns();
    data.features[i] = by.sd[j] > 0 ? (data.features[i] - by.mean[j]) / by.sd[j] : 0.0;
  }
}

Dataset rows_of(const Dataset& data, const std::vector<std::size_t>& rows) {
  Dataset out;
  out.target_name = data.target_name;
  for (const std::size_t row : rows) {
    out.features.insert(out.features.end(), data.row(row), data.row(row) + data.columns());
    out.targets.push_back(data.targets[row]);
  }
  describe(out, data.columns());
  out.names = data.names;
  return out;
}

std::vector<std::size_t> permutation(std::size_t count, std::uint64_t seed) {
  std::vector<double> keys(count);
  fill_uniforms(seed, {.step = 1, .purpose = Purpose::kTest}, keys);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return keys[i]; });
  return order;
}

namespace {

constexpr std::size_t kKddColumns = 41;  // without the label
constexpr std::size_t kConstant = 19;
constexpr std::array<std::size_t, 3> kTexts = {1, 2, 3};

bool is_text(std::size_t column) { return std::ranges::find(kTexts, column) != kTexts.end(); }

// The place in alphabetical order of each text, by the number that it got when it first appeared.
std::vector<double> alphabetical(const std::map<std::string, std::size_t>& appeared) {
  std::vector<double> out(appeared.size());
  double next = 0;
  for (const auto& [text, number] : appeared) out[number] = next++;
  return out;
}

}  // namespace

Connections load_connections(const std::string& path) {
  windhover::Table table(path, {.header = false});
  Connections out;
  std::array<std::map<std::string, std::size_t>, kTexts.size()> texts;
  std::map<std::string, std::size_t> labels;
  std::vector<double> counts;
  std::unordered_set<std::string> seen;
  while (table.next()) {
    std::string row;
    for (std::size_t j = 0; j < kKddColumns; ++j) {
      row.append(table.text(j)).push_back(',');
      if (j == kConstant) continue;
      const auto* text = std::ranges::find(kTexts, j);
      if (text == kTexts.end()) {
        out.data.features.push_back(table.require_number(j));
        continue;
      }
      auto& numbers = texts[static_cast<std::size_t>(text - kTexts.begin())];
      const auto at = numbers.try_emplace(std::string(table.text(j)), numbers.size()).first;
      out.data.features.push_back(static_cast<double>(at->second));
    }
    const auto label =
        labels.try_emplace(std::string(table.text(kKddColumns)), labels.size()).first;
    counts.resize(labels.size());
    counts[label->second] += 1;
    row.append(label->first);
    if (seen.insert(std::move(row)).second) out.distinct.push_back(out.data.targets.size());
    out.data.targets.push_back(static_cast<double>(label->second));
  }

  std::vector<std::pair<double, std::string>> order;
  order.reserve(labels.size());
  for (const auto& [text, number] : labels) order.emplace_back(-counts[number], text);
  std::ranges::sort(order);
  std::vector<double> rank(labels.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[labels.at(order[i].second)] = static_cast<double>(i);
    out.labels.push_back(order[i].second);
  }
  for (double& y : out.data.targets) y = rank[static_cast<std::size_t>(y)];

  constexpr std::size_t kKept = kKddColumns - 1;
  std::vector<double>& x = out.data.features;
  const std::vector<double> largest = largest_of(x, kKept);
  std::array<std::vector<double>, kTexts.size()> numbers;
  for (std::size_t t = 0; t < kTexts.size(); ++t) numbers[t] = alphabetical(texts[t]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t j = i % kKept;
    if (is_text(j)) {
      const std::vector<double>& of = numbers[j - kTexts[0]];
      x[i] = of[static_cast<std::size_t>(x[i])] / static_cast<double>(of.size() - 1);
    } else if (largest[j] > 1) {
      x[i] = std::log1p(x[i]) / std::log1p(largest[j]);
    }
  }
  out.data.target_name = "label";
  describe(out.data, kKept);
  return out;
}

}  // namespace windhover::reproduce
