// SPDX-License-Identifier: Apache-2.0
// What stands in for readers that this copy was built without.
#include "core/error.h"
#include "data/table/table_readers.h"

namespace kith {

#if !KITH_SQLITE
std::unique_ptr<TableReader> read_sqlite(const std::string& path, const TableOptions&) {
  throw fault(ErrorKind::kUsage, "{}: this copy of Kith was built without SQLite", path);
}
#endif

#if !KITH_POSTGRES
std::unique_ptr<TableReader> read_postgres(const std::string&, const TableOptions&) {
  throw fault(ErrorKind::kUsage, "this copy of Kith was built without PostgreSQL");
}
#endif

}  // namespace kith
