#!/bin/sh
# From the first start of a server to a green pipeline, with the time that each step took:
#
#     docs/first-pipeline.sh [target/release/forgeway]
#
# Needs curl and git. The server listens on 127.0.0.1:18080 (or PORT), and its data goes with the script.
set -eu

forgeway=$(realpath "${1:-target/release/forgeway}")
host=127.0.0.1:${PORT:-18080}
api=http://$host/api/v4
folder=$(mktemp -d)
token=glpat-first-pipeline
server=

clean_up() {
  [ -z "$server" ] || { kill "$server" && wait "$server"; } || true
  rm -rf "$folder"
}
trap clean_up EXIT

begun=$(date +%s%N)
say() { printf '%6d ms  %s\n' $((($(date +%s%N) - begun) / 1000000)) "$1"; }
get() { curl -sf -H "PRIVATE-TOKEN: $token" "$api/projects/root%2Fhello/$1"; }
# Asks until the answer is yes, for a minute at most.
wait_for() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 1200 ] || { echo "gave up: $*" >&2; cat "$folder/log" >&2; exit 1; }
    sleep 0.05
  done
}

cd "$folder"
FORGEWAY_ROOT_TOKEN=$token "$forgeway" serve --with-runner --listen "$host" --data data > log 2>&1 &
server=$!
is_ready() { curl -sf -o /dev/null "http://$host/-/readiness"; }
wait_for is_ready
say "the server is ready"

git init -q -b main hello
cd hello
echo '# Hello' > README.md
printf 'greet:\n  script: cat README.md\n' > .gitlab-ci.yml
git add .
git -c user.name=Ada -c user.email=ada@example.com commit -q -m 'Say hello'
git push -q "http://root:$token@$host/root/hello.git" main
say "the project is there, and its commit"

is_green() { get pipelines | grep -q '"status":"success"'; }
wait_for is_green
say "the pipeline is green"
get jobs/1/trace | tail -n 4
