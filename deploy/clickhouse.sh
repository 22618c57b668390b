# Defines `ask` for the scripts beside it, which source this file.
# shellcheck shell=bash
url=${FENCELINE_CLICKHOUSE_URL:-http://127.0.0.1:8123}
database=${FENCELINE_CLICKHOUSE_DATABASE:-fenceline}

# ask CURL_ARGUMENT...: sends a request to ClickHouse, and prints its answer. Fails if ClickHouse refuses the request.
ask() {
  curl --silent --show-error --fail --config <(login) "$@"
}

# Prints the login as a configuration of curl. All users of the machine can read the arguments of a program.
login() {
  printf 'header = "X-ClickHouse-User: %s"\n' "$(quoted "${FENCELINE_CLICKHOUSE_USERNAME:-default}")"
  printf 'header = "X-ClickHouse-Key: %s"\n' "$(quoted "${FENCELINE_CLICKHOUSE_PASSWORD:-}")"
}

# quoted TEXT: escapes what has a meaning between the quotes of a configuration of curl.
quoted() {
  local text=${1//\\/\\\\}
  printf '%s' "${text//\"/\\\"}"
}
