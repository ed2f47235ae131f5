#include "windhover/tools/data/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "windhover/samplers/registry.h"
#include "windhover/tools/data/csv_form.h"
#include "windhover/tools/data/inspect_column.h"
#include "windhover/tools/data/inspect_notes.h"
#include "windhover/tools/data/inspect_numbers.h"
#include "windhover/tools/data/inspect_target.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using TargetKind = TargetRule::Kind;

// The results of one pass over the file.
struct Facts {
  std::vector<std::string> names;
  std::vector<ColumnFacts> columns;
  std::size_t target = 0;
  TargetTexts target_texts;
};

Facts facts_of(const std::string& path, const TableOptions& form, const InspectOptions& options,
               NumberForm numbers) {
  Table table(path, form);
  Facts facts;
  facts.names = table.columns();
  facts.columns.resize(facts.names.size(), ColumnFacts(numbers));
  facts.target = table.column(options.target);
  const auto is_missing = [&](std::string_view text) {
    return is_missing_text(text) ||
           std::ranges::find(options.missing_texts, text) != options.missing_texts.end();
  };
  while (table.next()) {
    for (std::size_t j = 0; j < facts.names.size(); ++j) {
      const std::string_view text = table.text(j);
      const bool is_target = j == facts.target;
      const bool positive = is_target && options.positive && same_category(text, *options.positive);
      if (is_missing(text) && !positive) {
        facts.columns[j].add_missing(table.line());
        continue;
      }
      facts.columns[j].add(text, table.line());
      if (is_target) facts.target_texts.add(text);
    }
  }
  if (facts.columns[facts.target].cells() == 0) {
    throw UserError(
        fmt::format("no row of {} has a value of the target {}", path, facts.names[facts.target]));
  }
  return facts;
}

// The schema keeps a model that does not follow from the target's kind.
void keep_model(TargetRule& rule, std::string_view model) {
  if (!model.empty() && model != rule.default_model()) rule.model = find_model(model)->name;
}

// The rules of the interactions asked for. UserError when one of the columns has no features.
void add_interactions(const std::string& path, const InspectOptions& options, const Table& table,
                      SchemaParts& parts) {
  for (const auto& [first, second] : options.interactions) {
    FeatureRule& rule = parts.rules.emplace_back();
    rule.kind = FeatureRule::Kind::kInteraction;
    for (const std::string& field : {first, second})
      rule.fields.push_back(table.columns()[table.column(field)]);
    rule.field = fmt::format("{}", fmt::join(rule.fields, " x "));
    const auto again = std::ranges::find_if(parts.rules, [&](const FeatureRule& other) {
      return &other != &rule && other.kind == rule.kind && same_fields(other, rule);
    });
    if (again != parts.rules.end())
      throw UserError(fmt::format("{}: the interaction {} is asked for twice", path, rule.field));
    const auto factors = factors_of(parts.rules, parts.rules.size() - 1);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (!factors[i].empty()) continue;
      throw UserError(fmt::format("{}: no interaction of {}: its column {} has no feature", path,
                                  rule.field, rule.fields[i]));
    }
    if (rule.fields[0] == rule.fields[1]) {
      throw UserError(fmt::format("{}: no interaction of {} with itself; --spline {} makes a curve",
                                  path, first, first));
    }
  }
}

// Throws the error of the first wrong row: trials that are not a number of trials, or fewer than
// the target.
void check_trials(const std::string& path, const Schema& schema) {
  Table table(path, schema.table_options());
  const RowEncoder encoder(schema, table);
  for (EncodedRow row; table.next();) (void)encoder.encode(table, row);
}

}  // namespace

Inspection inspect(const std::string& path, const InspectOptions& options) {
  SchemaParts parts;
  parts.path = path;
  parts.table = detect_form(path, options.separator, options.header, options.target);
  Facts facts = facts_of(path, parts.table, options, {});
  parts.numbers = number_form_of(facts.names, facts.columns, options.decimal, path);
  if (parts.numbers.thousands) facts = facts_of(path, parts.table, options, parts.numbers);
  parts.target = facts.names[facts.target];
  parts.missing = MissingPolicy::kSkip;
  parts.missing_texts = options.missing_texts;
  std::string hint;
  parts.target_rule = target_rule({parts.target, facts.columns[facts.target], facts.target_texts},
                                  options, parts.numbers.decimal, path, hint);

  const Table table(path, parts.table);
  const auto are_listed = [&](const std::vector<std::string>& names) {
    std::vector<bool> listed(facts.names.size(), false);
    for (const std::string& name : names) listed[table.column(name)] = true;
    return listed;
  };
  std::vector<bool> leave_out = are_listed(options.leave_out);
  std::optional<std::size_t> offset;
  if (options.offset) {
    offset = table.column(options.offset->field);
    if (*offset == facts.target)
      throw UserError(fmt::format("{}: {} is the target, and no offset", path, parts.target));
    if (options.offset->exposure && parts.target_rule.kind != TargetKind::kCount) {
      throw UserError(
          fmt::format("{}: an exposure is for counts; say --model negative-binomial, or of another "
                      "target --offset {}",
                      path, facts.names[*offset]));
    }
    parts.offset = {facts.names[*offset], options.offset->exposure};
    leave_out[*offset] = true;
  }
  std::optional<std::size_t> trials;
  if (options.trials) {
    trials = table.column(*options.trials);
    if (*trials == facts.target)
      throw UserError(fmt::format("{}: {} is the target, and not its trials", path, parts.target));
    if (options.offset)
      throw UserError(fmt::format("{}: a target of trials takes no offset and no exposure", path));
    parts.target_rule.trials = facts.names[*trials];
    leave_out[*trials] = true;
  }
  std::optional<std::size_t> weight;
  if (options.weight) {
    weight = table.column(*options.weight);
    if (*weight == facts.target)
      throw UserError(fmt::format("{}: {} is the target, and no weight", path, parts.target));
    if (weight == offset) {
      throw UserError(
          fmt::format("{}: {} is the offset, and no weight", path, facts.names[*weight]));
    }
    if (weight == trials) {
      throw UserError(
          fmt::format("{}: {} is the trials, and no weight", path, facts.names[*weight]));
    }
    parts.weight = facts.names[*weight];
    leave_out[*weight] = true;
  }
  const std::vector<bool> categories = are_listed(options.categories);
  const std::vector<bool> splines = are_listed(options.splines);
  std::vector<ColumnReport> reports;
  std::vector<std::pair<std::size_t, std::size_t>> rules;  // of each report: [first, end)
  for (std::size_t j = 0; j < facts.names.size(); ++j) {
    if (j == facts.target) continue;
    const std::string& name = facts.names[j];
    check_encoding(path, name);
    const ColumnPlan plan = plan_column(name, facts.columns[j],
                                        {.decimal = parts.numbers.decimal,
                                         .dates = options.dates,
                                         .category = categories[j],
                                         .spline = splines[j],
                                         .leave_out = leave_out[j],
                                         .skip_missing = options.skip_missing,
                                         .most_categories = options.most_categories},
                                        path);
    const std::size_t first = parts.rules.size();
    parts.rules.insert(parts.rules.end(), plan.rules.begin(), plan.rules.end());
    rules.emplace_back(first, parts.rules.size());
    if (offset == j) {
      reports.push_back({name, parts.offset->exposure ? "exposure" : "offset", 0,
                         facts.columns[j].missing(), offset_note(parts, facts.columns[j])});
      continue;
    }
    if (trials == j) {
      reports.push_back(
          {name, "trials", 0, facts.columns[j].missing(), trials_note(facts.columns[j])});
      continue;
    }
    if (weight == j) {
      reports.push_back(
          {name, "weight", 0, facts.columns[j].missing(), weight_note(facts.columns[j])});
      continue;
    }
    reports.push_back({name, plan.reads_as, 0, facts.columns[j].missing(), plan.note});
  }
  if (parts.rules.empty()) {
    std::string why;
    for (const ColumnReport& r : reports)
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", r.name, r.note);
    throw UserError(fmt::format(
        "{} has no column but the target that could be a feature; at least one is needed{}", path,
        why.empty() ? " (is the separator right?)" : " (" + why + ")"));
  }
  add_interactions(path, options, table, parts);
  SchemaParts filled = Schema(std::move(parts)).collected_from(path).parts();
  keep_model(filled.target_rule, options.model);
  Inspection inspection{Schema(std::move(filled)), "", hint, std::move(reports),
                        std::move(facts.columns[facts.target])};
  if (trials) check_trials(path, inspection.schema);
  const SchemaParts& done = inspection.schema.parts();
  for (const FeatureRule& rule : done.rules) {
    for (const std::string& category : rule.categories) check_encoding(path, category);
  }
  for (const std::string& name : done.target_rule.class_names()) check_encoding(path, name);
  inspection.target_note = target_note(done, hint, inspection.target, facts.target_texts);
  std::size_t column = 0;
  for (std::size_t i = 0; i < inspection.columns.size(); ++i, ++column) {
    ColumnReport& report = inspection.columns[i];
    if (column == facts.target) ++column;
    for (std::size_t r = rules[i].first; r < rules[i].second; ++r) {
      const FeatureRule& rule = done.rules[r];
      report.features += all_columns(done.rules, r);
      if (rule.kind == FeatureRule::Kind::kSpline) {
        report.note += fmt::format("{}a curve, {} knots from {:.6g} to {:.6g}",
                                   report.note.empty() ? "" : "; ", rule.knots.size(),
                                   rule.knots.front(), rule.knots.back());
      }
    }
    if (report.missing > 0 && report.features > 0) {
      report.note += report.note.empty() ? "" : "; ";
      report.note += missing_note(facts.columns[column], done.rules[rules[i].first]);
    }
  }
  for (std::size_t r = 0; r < done.rules.size(); ++r) {
    if (done.rules[r].kind != FeatureRule::Kind::kInteraction) continue;
    inspection.columns.push_back(
        {done.rules[r].field, "interaction", all_columns(done.rules, r), 0, ""});
  }
  return inspection;
}

void take_model(Inspection& inspection, std::string_view model, const std::string& hint) {
  SchemaParts parts = inspection.schema.parts();
  const Response response = find_model(model)->response;
  parts.target_rule.kind = is_whole_number(response)          ? TargetKind::kCount
                           : response == Response::kLogNormal ? TargetKind::kPositive
                                                              : TargetKind::kNumber;
  keep_model(parts.target_rule, model);
  inspection.schema = Schema(std::move(parts));
  inspection.target_hint = hint;
  inspection.target_note = target_note(inspection.schema.parts(), hint, inspection.target, {});
}

std::vector<std::string> columns_of(const std::string& path, const InspectOptions& options) {
  return Table(path, detect_form(path, options.separator, options.header, options.target))
      .columns();
}

}  // namespace windhover
