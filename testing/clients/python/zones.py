"""Tokens, accounts and zones: the throw-away zone is made, found, read, changed and deleted."""

import cloudflare

from stage import ACCOUNT, CONTROL, OWNED_TOKEN, ZONE, Skip, client, command, equal, refused, seen, situation, with_token

# The zone that this run made. Nothing is done to any other.
made = None


def zone():
    if made is None:
        raise Skip("there is no zone")
    return made


def ids(**query):
    return [each.id for each in seen(client.zones.list(**query).result)]


def active():
    verdict = seen(client.user.tokens.verify())
    equal((verdict.status, len(verdict.id)), ("active", 32))


def owned():
    if OWNED_TOKEN is None:
        raise Skip("no such token is given")
    own = with_token(OWNED_TOKEN)
    equal(seen(own.accounts.tokens.verify(account_id=ACCOUNT)).status, "active")
    refused(own.user.tokens.verify, cloudflare.AuthenticationError, 1000)


def accounts():
    equal(seen(client.accounts.get(account_id=ACCOUNT)).id, ACCOUNT)
    assert ACCOUNT in [seen(each).id for each in client.accounts.list(per_page=5)]


def create():
    """Makes the zone, unless one of that name is there: that one belongs to somebody."""
    global made
    assert ids(name=ZONE) == [], f"{ZONE} exists already; name a domain that is not in Cloudflare"
    answer = seen(client.zones.create(account={"id": ACCOUNT}, name=ZONE, type="full"))
    made = answer.id
    equal((answer.name, answer.account.id, answer.type, answer.paused), (ZONE, ACCOUNT, "full", False))
    equal(len(answer.name_servers), 2)
    assert answer.status in ("initializing", "pending"), answer.status
    assert answer.created_on.year > 2000


def duplicate():
    zone()
    again = {"account": {"id": ACCOUNT}, "name": ZONE}
    refused(lambda: client.zones.create(**again), cloudflare.BadRequestError, 1061)


def paged():
    found = []
    pages = list(client.zones.list(per_page=5).iter_pages())
    for page in pages:
        assert len(page.result) <= 5
        found += [each.id for each in seen(page.result)]
    equal(len(set(found)), len(found))
    assert zone() in found
    if CONTROL is not None:
        assert len(pages) > 2 and len(found) > 10, f"{len(found)} zones on {len(pages)} pages"


def filtered():
    equal(ids(name=ZONE), [zone()])
    equal(ids(name=f"starts_with:{ZONE[:-2]}", account={"id": ACCOUNT}), [zone()])
    equal(ids(name=ZONE, account={"id": "f" * 32}), [])
    equal(ids(name=ZONE, status="active"), [])
    equal(ids(name=ZONE, type=["internal", "full"]), [zone()])
    equal(ids(name=ZONE, type=["internal", "partial"]), [])
    names = [each.name for each in client.zones.list(order="name", direction="desc", per_page=50).result]
    equal(names, sorted(names, reverse=True))


def read():
    answer = seen(client.zones.get(zone_id=zone()))
    equal((answer.id, answer.name, answer.plan.name), (zone(), ZONE, "Free Website"))


def paused():
    for value in (True, False):
        equal(seen(client.zones.edit(zone_id=zone(), paused=value)).paused, value)
        equal(client.zones.get(zone_id=zone()).paused, value)


def usage():
    answer = seen(client.dns.usage.zone.get(zone_id=zone()))
    equal(answer.record_usage, 0)
    assert answer.record_quota is None or answer.record_quota > 0


def subscription():
    equal(seen(client.zones.subscriptions.get(zone_id=zone())).rate_plan.id, "free")


def hold():
    equal(seen(client.zones.holds.get(zone_id=zone())).hold, False)


def delete():
    global made
    id_ = zone()
    equal(seen(client.zones.delete(zone_id=id_)).id, id_)
    made = None
    equal(ids(name=ZONE), [])


def plan(name):
    """Puts the zone on a plan."""
    command("a real plan costs money", "POST", f"/zones/{zone()}/plan", {"plan": name})


def begin():
    situation("the token is active", active)
    situation("an account-owned token is active", owned)
    situation("the account is read and listed", accounts)
    situation("a zone is created", create)
    situation("the same zone again is a duplicate", duplicate)
    situation("zones are listed page by page", paged)
    situation("zones are filtered", filtered)
    situation("the zone is read", read)
    situation("the zone is paused and resumed", paused)
    situation("the usage of the zone is read", usage)
    situation("the subscription of the zone is read", subscription)
    situation("the hold of the zone is read", hold)


def end():
    situation("the zone is deleted", delete, cleans_up=True)
