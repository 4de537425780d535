"""Tunnels: three are made, found, read, changed, configured and deleted."""

import base64
import json

import cloudflare

from stage import ACCOUNT, ZONE, Skip, client, command, equal, refused, seen, situation

api = client.zero_trust.tunnels.cloudflared
# All tunnels of this run, and none of anybody else.
PREFIX = f"{ZONE} "
UNKNOWN = "00000000-0000-4000-8000-000000000000"

# The tunnels that this run made and that still stand. Nothing is done to any other.
made = []


def tunnel():
    if not made:
        raise Skip("there is no tunnel")
    return made[0]


def new(name):
    answer = seen(api.create(account_id=ACCOUNT, name=PREFIX + name, config_src="cloudflare"))
    made.append(answer.id)
    return answer


def get(id_=None):
    return seen(api.get(id_ or tunnel(), account_id=ACCOUNT))


def listed(**query):
    ours = {"account_id": ACCOUNT, "include_prefix": PREFIX, "is_deleted": False}
    return api.list(**{**ours, **query})


def ids(**query):
    return [each.id for each in seen(listed(**query).result)]


def create():
    equal(ids(), [])
    answer = new("first")
    equal((answer.status, answer.account_tag, answer.config_src), ("inactive", ACCOUNT, "cloudflare"))


def duplicate():
    tunnel()
    refused(lambda: api.create(account_id=ACCOUNT, name=f"{PREFIX}first"), cloudflare.ConflictError, 1013)


def paged():
    tunnel()
    new("second")
    new("third")
    pages = list(listed(per_page=2).iter_pages())
    # The client asks until a page is empty.
    equal([len(page.result) for page in pages if page.result], [2, 1])
    equal(sorted(each.id for page in pages for each in page.result), sorted(made))


def filtered():
    equal(ids(name=f"{PREFIX}first"), [tunnel()])
    equal(ids(uuid=tunnel(), status="inactive"), [tunnel()])
    equal(ids(status="healthy"), [])
    equal(len(ids(exclude_prefix=f"{PREFIX}f")), 2)
    equal(ids(is_deleted=True, uuid=tunnel()), [])
    equal(ids(existed_at="2019-01-01T00:00:00Z"), [])


def renamed():
    equal(get().name, f"{PREFIX}first")
    equal(seen(api.edit(tunnel(), account_id=ACCOUNT, name=f"{PREFIX}renamed")).name, f"{PREFIX}renamed")


def token():
    def read():
        return json.loads(base64.b64decode(api.token.get(tunnel(), account_id=ACCOUNT)))

    first = read()
    equal((first["a"], first["t"]), (ACCOUNT, tunnel()))
    equal(read(), first)
    secret = base64.b64encode(bytes(range(32))).decode()
    seen(api.edit(tunnel(), account_id=ACCOUNT, tunnel_secret=secret))
    equal(read()["s"], secret)
    short = base64.b64encode(bytes(31)).decode()
    edit = lambda: api.edit(tunnel(), account_id=ACCOUNT, tunnel_secret=short)
    refused(edit, cloudflare.BadRequestError, 1003)


def configured():
    read = lambda: api.configurations.get(tunnel(), account_id=ACCOUNT)
    refused(read, cloudflare.NotFoundError, 1055)
    first = {
        "hostname": f"www.{ZONE}",
        "path": "/app",
        "service": "http://web:80",
        "origin_request": {"no_tls_verify": True, "connect_timeout": 5},
    }
    last = {"hostname": "", "service": "http_status:404"}
    for version in (1, 2):
        config = {"ingress": [first, last]}
        answer = seen(api.configurations.update(tunnel(), account_id=ACCOUNT, config=config))
        equal((answer.version, answer.source), (version, "cloudflare"))
        equal(seen(read()).to_dict(), answer.to_dict())
        rule = answer.config.ingress[0]
        equal((rule.hostname, rule.path, rule.origin_request.no_tls_verify), (first["hostname"], "/app", True))
    update = lambda: api.configurations.update(tunnel(), account_id=ACCOUNT, config={"ingress": [first]})
    refused(update, cloudflare.BadRequestError, 1056)


def missing():
    refused(lambda: api.get(UNKNOWN, account_id=ACCOUNT), cloudflare.NotFoundError, 1002)


def connected():
    command("only the sandbox plays a connector", "POST", f"/tunnels/{tunnel()}/connectors", {})
    equal(get().status, "healthy")
    clients = seen(api.connections.get(tunnel(), account_id=ACCOUNT).result)
    equal([len(each.conns) for each in clients], [4])
    connector = seen(api.connectors.get(clients[0].id, account_id=ACCOUNT, tunnel_id=tunnel()))
    equal(connector.to_dict(), clients[0].to_dict())
    refused(lambda: api.delete(tunnel(), account_id=ACCOUNT), cloudflare.BadRequestError, 1022)
    api.connections.delete(tunnel(), account_id=ACCOUNT)
    equal(get().status, "down")


def delete():
    tunnel()
    for id_ in list(made):
        assert seen(api.delete(id_, account_id=ACCOUNT)).deleted_at is not None
        made.remove(id_)
        assert get(id_).deleted_at is not None
    equal(ids(), [])


def tunnels():
    situation("a tunnel is created", create)
    situation("the same tunnel again is a duplicate", duplicate)
    situation("tunnels are listed page by page", paged)
    situation("tunnels are filtered", filtered)
    situation("the tunnel is read and renamed", renamed)
    situation("the token of the tunnel changes with its secret", token)
    situation("the tunnel is configured", configured)
    situation("a tunnel that is not there is not found", missing)
    situation("a connected tunnel cannot be deleted", connected)
    situation("the tunnels are deleted", delete, cleans_up=True)
