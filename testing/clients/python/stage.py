"""What every situation needs: settings, the client, the sandbox's control surface, and the lines that are printed."""

import json
import os
import re
import signal
import sys
import urllib.request
from typing import get_args

import cloudflare
import pydantic
from cloudflare import BaseModel, Cloudflare
from cloudflare.types.dns import RecordBatchResponse, RecordResponse


def needed(name):
    if not os.environ.get(name):
        sys.exit(f"{name} is not set; see docs/reference/witnesses.md")
    return os.environ[name]


ACCOUNT = needed("CLOUDFLARE_ACCOUNT_ID")
# The throw-away zone: made here, and deleted here.
ZONE = needed("WITNESS_ZONE")
# May read zones and records, and nothing else.
READ_TOKEN = os.environ.get("WITNESS_READ_TOKEN")
# Belongs to the account.
OWNED_TOKEN = os.environ.get("WITNESS_OWNED_TOKEN")
# Where the sandbox is commanded; none on a real account.
CONTROL = os.environ.get("WITNESS_CONTROL")

with open(needed("WITNESS_RECORDS"), encoding="utf-8") as file:
    WANTED = json.load(file)


def full(name):
    return ZONE if name == "@" else f"{name}.{ZONE}"


def with_token(token):
    return Cloudflare(api_token=token)


# Base URL and token come from CLOUDFLARE_BASE_URL and CLOUDFLARE_API_TOKEN, as the SDK's README says.
client = Cloudflare()


class Skip(Exception):
    """The situation is left out, and why."""


def command(why, method, path, body):
    """Commands the sandbox; on a real account the situation is left out."""
    if CONTROL is None:
        raise Skip(why)
    request = urllib.request.Request(CONTROL + path, json.dumps(body).encode(), method=method)
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200, answer.read()


# After Ctrl-C nothing is done any more but cleaning up.
interrupted = False


def interrupt(*_):
    global interrupted
    interrupted = True


for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, interrupt)

counts = {"ok": 0, "FAILED": 0, "skip": 0}


def situation(name, check, cleans_up=False):
    outcome, text = "ok", ""
    try:
        if interrupted and not cleans_up:
            raise Skip("interrupted")
        check()
    except Skip as why:
        outcome, text = "skip", f": {why}"
    except Exception as error:  # A fault of the witness must not keep the zone from being cleaned up, either.
        place = error.__traceback__
        ours = lambda frame: frame.f_code.co_filename.startswith(os.path.dirname(__file__))
        while place.tb_next is not None and ours(place.tb_next.tb_frame):
            place = place.tb_next
        where = f"{os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno}"
        outcome, text = "FAILED", f": {where}: {type(error).__name__} {error}"
    counts[outcome] += 1
    print(f"{outcome:<6} {name}{text}", flush=True)


def close():
    """Prints the count; true when nothing failed."""
    print(f"python: {counts['ok']} passed, {counts['FAILED']} failed, {counts['skip']} skipped", flush=True)
    return counts["FAILED"] == 0 and not interrupted


def equal(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def holds(got, expected):
    """Every field of `expected` stands in `got`."""
    fields = typed(got).to_dict(mode="json") if isinstance(got, BaseModel) else got
    for field, value in expected.items():
        assert fields.get(field) == value, f"{field}: got {fields.get(field)!r}, wanted {value!r}"


def refused(call, kind, code):
    """The call ends in the SDK's own error of that class, with that code."""
    try:
        call()
    except cloudflare.APIStatusError as error:
        assert type(error) is kind, f"{type(error).__name__} {error}"
        equal(seen(error.errors)[0].code, code)
        assert error.errors[0].message
        return error
    raise AssertionError("not refused")


differences = set()
# The SDK's type of each type of record.
VARIANTS = {variant.model_fields["type"].annotation.__args__[0]: variant for variant in get_args(RecordResponse)}


def name_of(kind):
    return f"{kind.__module__.rsplit('.', 1)[-1]}.{kind.__qualname__}"


def seen(answer):
    """Passes an answer on and notes where it departs from the client's types."""
    if isinstance(answer, list):
        for item in answer:
            seen(item)
    elif isinstance(answer, RecordBatchResponse):
        for records in (answer.deletes, answer.patches, answer.puts, answer.posts):
            seen(records)
    elif isinstance(answer, BaseModel):
        validate(typed(answer))
    return answer


def typed(answer):
    """The answer as its own type: what the SDK cannot validate as any type of record, it takes for the first."""
    if not isinstance(answer, get_args(RecordResponse)) or isinstance(answer, VARIANTS[answer.type]):
        return answer
    variant = VARIANTS[answer.type]
    differences.add(f"{name_of(variant)}: read as {type(answer).__qualname__}")
    return variant.construct(**answer.to_dict(mode="json"))


def validate(answer):
    try:
        type(answer).model_validate(answer.to_dict(mode="json"))
    except pydantic.ValidationError as error:
        for fault in error.errors():
            place = ".".join(str(part) for part in fault["loc"] if isinstance(part, str))
            what = "missing" if fault["type"] == "missing" else "null" if fault["input"] is None else "another type"
            differences.add(f"{name_of(type(answer))}.{place}: {what}")
    extras(answer)


def extras(answer):
    if isinstance(answer, list):
        for item in answer:
            extras(item)
    elif isinstance(answer, BaseModel):
        differences.update(f"{name_of(type(answer))}.{field}: extra" for field in answer.model_extra or {})
        for field in type(answer).model_fields:
            extras(getattr(answer, field, None))


def compare():
    """Fails unless what was found and what is noted, with `*` for any word, cover each other."""
    with open(needed("WITNESS_DIFFERENCES"), encoding="utf-8") as notes:
        noted = [note["what"] for note in json.load(notes)["python"]]
    patterns = {what: re.compile("[^.:]+".join(map(re.escape, what.split("*")))) for what in noted}
    unknown = sorted(one for one in differences if not any(is_.fullmatch(one) for is_ in patterns.values()))
    unseen = [what for what, is_ in patterns.items() if not any(map(is_.fullmatch, differences))]
    if CONTROL is not None:
        equal((unknown, unseen), ([], []))
        return
    # What the real API answers is right by definition: where it departs from our notes, they are wrong.
    for one in unknown:
        print(f"differs {one}: is not noted")
    for one in unseen:
        print(f"differs {one}: is noted and did not happen")
