#!/bin/sh
# Brings Temporal's two databases to the schema of this server; safe to run again. Expects SQL_PASSWORD.
set -eu

tool() {
    temporal-sql-tool --plugin postgres12 --ep temporal-postgres -p 5432 -u temporal --db "$@"
}

for part in temporal visibility; do
    database=temporal
    [ "$part" = visibility ] && database=temporal_visibility
    tool "$database" create
    tool "$database" setup-schema -v 0.0
    tool "$database" update-schema -d "/etc/temporal/schema/postgresql/v12/$part/versioned"
done
