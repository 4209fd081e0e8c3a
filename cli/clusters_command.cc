// SPDX-License-Identifier: Apache-2.0
// clusters: the groups that a model divides rows into.
#include <cmath>

#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "kith/kith.h"
#include "narrator.h"

namespace kith::cli {
namespace {

struct ClustersFlags {
  std::string plot{};
  bool json = false;

  static constexpr std::tuple fields{
      field("plot", &ClustersFlags::plot, "write a picture of clusters and rows (SVG)"),
      field("json", &ClustersFlags::json, "print JSON"),
  };
};

std::vector<FieldGroup> clusters_groups(std::string_view) {
  std::vector<FieldGroup> out = groups_for<ClustersOptions, ClustersFlags, Threads, Quiet>();
  for (FieldGroup& group : reading_settings({Can::kDivideRows})) out.push_back(std::move(group));
  return out;
}

// --- JSON ---

Json json_of(const ClusterRow& row) {
  Json out{{"row", row.name},
           {"cluster", row.cluster},
           {"membership", score(row.membership)},
           {"distance", score(row.distance)},
           {"log_density", score(row.log_density)}};
  if (row.second > 0) {
    out["second"] = row.second;
    out["second_membership"] = score(row.second_membership);
  }
  return out;
}
Json json_of(const std::vector<ClusterRow>& rows) {
  Json out = Json::array();
  for (const ClusterRow& row : rows) out.push_back(json_of(row));
  return out;
}

Json json_of(const Clusters& found) {
  Json list = Json::array();
  for (size_t k = 0; k < found.clusters.size(); ++k) {
    const Cluster& c = found.clusters[k];
    Json columns = Json::array();
    for (const ClusterColumn& col : c.columns) {
      columns.push_back({{"column", col.name},
                         {"mean", col.mean},
                         {"deviation", col.deviation},
                         {"all", col.all},
                         {"apart", score(col.apart)}});
    }
    Json one{{"cluster", k + 1}, {"weight", score(c.weight)}, {"columns", std::move(columns)}};
    if (found.rows > 0) {
      one["rows"] = c.rows;
      one["typical"] = json_of(c.typical);
    }
    list.push_back(std::move(one));
  }
  Json out{{"rows_learned", found.learned}, {"clusters", std::move(list)}};
  if (found.rows > 0) {
    out["rows"] = found.rows;
    out["doubtful"] = json_of(found.doubtful);
    out["odd"] = json_of(found.odd);
  }
  return out;
}

// --- For people ---

// Four digits, as many as a mean is worth.
std::string number(double x) { return fmt::format("{:.4g}", x); }
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string clusters_table(const Clusters& found) {
  std::vector<std::vector<std::string>> rows{
      {"cluster", "share", "column", "mean", "±", "all rows", "apart"}};
  for (size_t k = 0; k < found.clusters.size(); ++k) {
    const Cluster& c = found.clusters[k];
    for (size_t i = 0; i < c.columns.size(); ++i) {
      const ClusterColumn& col = c.columns[i];
      rows.push_back({i ? "" : fmt::format("{}", k + 1), i ? "" : percent(c.weight),
                      printable(col.name), number(col.mean), number(col.deviation), number(col.all),
                      fmt::format("{:+.1f}", col.apart)});
    }
  }
  return table(rows, "<><>>>>");
}

std::string rows_table(const Clusters& found) {
  std::vector<std::vector<std::string>> rows{{"cluster", "rows", "typical"}};
  for (size_t k = 0; k < found.clusters.size(); ++k) {
    std::vector<std::string> names;
    for (const ClusterRow& row : found.clusters[k].typical) names.push_back(printable(row.name));
    rows.push_back({fmt::format("{}", k + 1), grouped(found.clusters[k].rows),
                    fmt::format("{}", fmt::join(names, ", "))});
  }
  std::string out = "\n" + table(rows, "<><");
  if (!found.doubtful.empty()) {
    std::vector<std::vector<std::string>> doubtful{{"doubtful", "belongs to", "or to"}};
    for (const ClusterRow& row : found.doubtful) {
      doubtful.push_back({printable(row.name),
                          fmt::format("{} ({})", row.cluster, percent(row.membership)),
                          fmt::format("{} ({})", row.second, percent(row.second_membership))});
    }
    out += "\n" + table(doubtful, "<<<");
  }
  std::vector<std::vector<std::string>> odd{{"odd", "cluster", "deviations away"}};
  for (const ClusterRow& row : found.odd) {
    odd.push_back(
        {printable(row.name), fmt::format("{}", row.cluster), fmt::format("{:.1f}", row.distance)});
  }
  return out + "\n" + table(odd, "<>>");
}

int run_clusters(Args args) {
  ClustersOptions options;
  ClustersFlags flags;
  Threads threads;
  Quiet quiet;
  const auto [words, reading] =
      parse_reading(args, {Can::kDivideRows}, options, flags, threads, quiet);
  if (words.empty()) misused(kClusters, "clusters needs a model");
  if (!flags.plot.empty()) check_output(flags.plot, words);
  Narrator narrator(quiet.quiet);
  Context context(threads.threads);
  const Interrupts interrupts(context);
  const Clusters found =
      clusters(open(words[0]), rest_of(words), options, reading, context, &narrator);
  narrator.status().clear();
  if (!flags.plot.empty()) {
    OutputFile file(flags.plot);
    file.write(clusters_plot(found));
    file.commit();
    if (!quiet.quiet && !flags.json) say("{}: a picture, for a browser", flags.plot);
  }
  if (flags.json) {
    put_json(json_of(found));
    return kDone;
  }
  put_text(clusters_table(found) + (found.rows > 0 ? rows_table(found) : ""));
  return kDone;
}

}  // namespace

const Command kClusters{
    "clusters",
    "MODEL [FILE...]",
    "show the groups that a model divides rows into",
    {"kith clusters groups.kith", "kith clusters groups.kith data.csv --id name --plot groups.svg",
     "kith clusters groups.kith data.npy --top 20 --json"},
    "Of each cluster its share of the rows, and the columns that set it apart: its mean and "
    "standard deviation, the mean of all rows, and how many of their deviations lie between. Given "
    "rows, also which of them are typical of a cluster, which stand between two, and which fit "
    "none. How much each row belongs to each cluster is what kith embed writes.",
    clusters_groups,
    run_clusters,
};

}  // namespace kith::cli
