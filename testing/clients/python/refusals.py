"""What is refused, and that the client gives each refusal its own class and the code it has."""

import time

import cloudflare

from stage import READ_TOKEN, ZONE, Skip, client, command, equal, full, refused, seen, situation, with_token
from zones import zone


def create(kind, name, content, ttl=1, client=client):
    record = {"type": kind, "name": full(name), "content": content, "ttl": ttl}
    return lambda: client.dns.records.create(zone_id=zone(), **record)


def fault(name):
    """The next read of the zone goes wrong."""
    what = {"method": "GET", "path": f"/zones/{zone()}"}
    command("only the sandbox fails on command", "POST", f"/faults/{name}", what)


def read():
    return seen(client.zones.get(zone_id=zone())).id


def read_once():
    return client.with_options(max_retries=0).zones.get(zone_id=zone())


def malformed():
    refused(with_token("not a token").zones.list, cloudflare.BadRequestError, 6003)


def unknown():
    stranger = with_token("x" * 40)
    refused(stranger.user.tokens.verify, cloudflare.AuthenticationError, 1000)
    refused(lambda: stranger.zones.get(zone_id=zone()), cloudflare.AuthenticationError, 9109)


def forbidden():
    if READ_TOKEN is None:
        raise Skip("no such token is given")
    reader = with_token(READ_TOKEN)
    equal(reader.zones.get(zone_id=zone()).name, ZONE)
    refused(create("A", "forbidden", "192.0.2.60", client=reader), cloudflare.PermissionDeniedError, 10000)


def duplicate():
    refused(create("A", "proxied", "192.0.2.11"), cloudflare.BadRequestError, 81058)


def beside():
    refused(create("CNAME", "proxied", "target.example.net"), cloudflare.BadRequestError, 81053)


def invalid():
    refused(create("A", "invalid", "192.0.2"), cloudflare.BadRequestError, 9005)
    refused(create("A", "invalid", "192.0.2.70", ttl=7), cloudflare.BadRequestError, 9021)


def no_record():
    refused(lambda: client.dns.records.get("0" * 32, zone_id=zone()), cloudflare.NotFoundError, 81044)


def no_zone():
    refused(lambda: client.zones.get(zone_id="0" * 32), cloudflare.PermissionDeniedError, 9109)


def too_many():
    fault("429")
    error = refused(read_once, cloudflare.RateLimitError, 10429)
    equal(error.response.headers["retry-after"], "5")


def patient():
    fault("429")
    began = time.monotonic()
    equal(read(), zone())
    waited = time.monotonic() - began
    assert 4.9 <= waited < 15, f"waited {waited} s"


def flaky():
    for name in ("500", "502", "503"):
        fault(name)
        equal(read(), zone())
    fault("500")
    try:
        read_once()
        raise AssertionError("not refused")
    except cloudflare.InternalServerError as error:
        equal(error.status_code, 500)


def refusals():
    situation("a malformed token is refused", malformed)
    situation("an unknown token is refused", unknown)
    situation("a token without the permission is refused", forbidden)
    situation("a duplicate record is refused", duplicate)
    situation("a CNAME beside an address is refused", beside)
    situation("invalid content is refused", invalid)
    situation("a record that is not there is not found", no_record)
    situation("a zone that is not there is refused", no_zone)
    situation("too many requests are an error of their own", too_many)
    situation("too many requests wait for Retry-After", patient)
    situation("a server that fails for a moment is asked again", flaky)
