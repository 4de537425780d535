# A sandbox of its own for a check: start it, wait for things, stop it. Sourced by .ci/kubectl-smoke and .ci/crash.
# Needs KFLARE (the binary) and KUBECTL; leaves no process and no file behind.
: "${KFLARE:?the path of the kflare binary}" "${KUBECTL:?the path of kubectl}"

export LC_ALL=C
scratch=$(mktemp -d)
children=()

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    for log in "$scratch"/*.log; do
        [ -e "$log" ] && { printf -- '--- %s, its end\n' "${log##*/}"; tail -n 40 "$log"; } >&2
    done
    exit 1
}

stop_all() {
    local status=$?
    for child in "${children[@]}"; do kill -9 "$child" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$scratch"
    return "$status"
}
trap stop_all EXIT

# within SECONDS WHAT COMMAND...: repeats the command until it succeeds.
within() {
    local limit=$1 what=$2 began=$SECONDS
    shift 2
    until "$@" >"$scratch/within.out" 2>&1; do
        [ $((SECONDS - began)) -lt "$limit" ] || {
            cat "$scratch/within.out" >&2
            fail "not within $limit s: $what"
        }
        sleep 0.2
    done
}

# start_sandbox ARGUMENTS...: sets KUBECONFIG, cloudflare_url and control_url.
start_sandbox() {
    export KUBECONFIG=$scratch/kubeconfig
    "$KFLARE" sandbox --kubeconfig "$KUBECONFIG" "$@" >"$scratch/sandbox.log" 2>&1 &
    sandbox=$!
    children+=("$sandbox")
    within 60 "the sandbox answers" "$KUBECTL" get namespaces
    within 10 "the sandbox says where Cloudflare is" grep -oE 'http://127\.0\.0\.1:[0-9]+/client/v4' "$scratch/sandbox.log"
    cloudflare_url=$(head -n 1 "$scratch/within.out")
    control_url=${cloudflare_url%/client/v4}/_sandbox
}

# The names of all records in Cloudflare, one a line, sorted.
record_names() {
    curl --silent --show-error --fail "$control_url/state" >"$scratch/state.json" || fail "the sandbox gives no state"
    # Keys are sorted and indented by two: records are three levels below dns_records.
    sed -n '/^  "dns_records"/,/^  []}]/p' "$scratch/state.json" | sed -n 's/^        "name": "\(.*\)",*$/\1/p' | sort
}
