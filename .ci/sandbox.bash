# A sandbox of its own for a check: start it, wait for things, stop it. Sourced by .ci/kubectl-smoke, .ci/crash and .ci/kube-apiserver.
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

# ended PID: forgets a child that was waited for: its number may soon be that of somebody else's process.
ended() {
    local left=() child
    for child in "${children[@]}"; do [ "$child" = "$1" ] || left+=("$child"); done
    children=("${left[@]}")
}

# ends_well PID SECONDS WHAT: the child ends within so many seconds, by itself and with 0.
ends_well() {
    local status=0
    within "$2" "$3" gone "$1"
    wait "$1" || status=$?
    ended "$1"
    [ "$status" -eq 0 ] || fail "$3, but with $status"
}
gone() { ! kill -0 "$1"; }

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
    within 120 "the sandbox answers" "$KUBECTL" get namespaces
    within 60 "the sandbox says where Cloudflare is" grep -oE 'http://127\.0\.0\.1:[0-9]+/client/v4' "$scratch/sandbox.log"
    cloudflare_url=$(head -n 1 "$scratch/within.out")
    control_url=${cloudflare_url%/client/v4}/_sandbox
    curl --silent --show-error --fail --request POST "$control_url/schemas" >/dev/null ||
        fail "the sandbox does not hold what it hears and says to the facts of Cloudflare's API"
}

# What kflare sent and the sandbox answered so far was as the facts of Cloudflare's API say. At the end of a check.
fits() {
    local misfits checked
    checked=$(curl --silent --show-error --fail "$control_url/schemas" | sed -n 's/^  "requests": \([0-9]*\).*/\1/p')
    [ "${checked:-0}" -gt 0 ] || fail "no request of kflare's was held to the facts of Cloudflare's API"
    misfits=$(curl --silent --show-error --fail --request DELETE "$control_url/misfits") ||
        fail "the sandbox does not say what does not fit the facts of Cloudflare's API"
    [ "$misfits" = "[]" ] || fail "not as the facts of Cloudflare's API say: $misfits"
    echo "$checked requests of kflare's, and their answers, fit the facts of Cloudflare's API"
}

# The names of all records in Cloudflare, one a line, sorted.
record_names() {
    curl --silent --show-error --fail "$control_url/state" >"$scratch/state.json" || fail "the sandbox gives no state"
    # Keys are sorted and indented by two: records are three levels below dns_records.
    sed -n '/^  "dns_records"/,/^  []}]/p' "$scratch/state.json" | sed -n 's/^        "name": "\(.*\)",*$/\1/p' | sort
}
