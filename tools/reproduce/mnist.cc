#include "windhover/tools/reproduce/mnist.h"

#include <zlib.h>

#include <numeric>

#include "windhover/platform/random.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {
namespace {

constexpr std::uint32_t kBytes = 8;  // the type in the third byte of an idx file

class GzFile {
 public:
  explicit GzFile(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {}
  ~GzFile() {
    if (file_ != nullptr) gzclose(file_);
  }
  GzFile(const GzFile&) = delete;
  void read(std::uint8_t* out, std::size_t size) {
    if (file_ == nullptr ||
        gzread(file_, out, static_cast<unsigned>(size)) != static_cast<int>(size)) {
      throw UserError(fmt::format("{} is not a whole idx file of bytes", path_));
    }
  }

 private:
  std::string path_;
  gzFile file_;
};

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMajor> matrix_of(const Dataset& data) {
  return {data.features.data(), static_cast<Eigen::Index>(data.rows()),
          static_cast<Eigen::Index>(data.columns())};
}

}  // namespace

IdxFile read_idx(const std::string& path) {
  GzFile file(path);
  std::array<std::uint8_t, 4> word;
  const auto next = [&] {
    file.read(word.data(), word.size());
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
  file.read(out.bytes.data(), size);
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
    data.sd[j] = std::sqrt(squares[static_cast<Eigen::Index>(j)]);
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
  const auto columns = static_cast<Eigen::Index>(data.columns());
  const auto d = static_cast<Eigen::Index>(dimension);
  Eigen::MatrixXd projection(columns, d);
  fill_normals(seed, {.purpose = Purpose::kTest},
               {projection.data(), static_cast<std::size_t>(projection.size())});
  projection /= std::sqrt(static_cast<double>(columns));
  Dataset out;
  out.target_name = data.target_name;
  out.targets = data.targets;
  out.features.resize(data.rows() * dimension);
  Eigen::Map<RowMajor>(out.features.data(), static_cast<Eigen::Index>(data.rows()), d).noalias() =
      matrix_of(data) * projection;
  describe(out, dimension);
  return out;
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

}  // namespace windhover::reproduce
