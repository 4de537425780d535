"""Records: all types, each way to list and to change them, and zone files."""

import cloudflare

from stage import WANTED, ZONE, client, equal, full, holds, refused, seen, situation
from zones import plan, zone

records = client.dns.records
# The id of each record of the shared list.
created = []


def body(record):
    return {"type": record["type"], "name": full(record["name"]), **record["body"]}


def expected(record):
    return {**body(record), **record.get("answer", {})}


def id_of(kind, name):
    return dict(zip(((record["type"], record["name"]) for record in WANTED), created))[(kind, name)]


def every(**query):
    return [seen(record) for record in records.list(zone_id=zone(), **query)]


def ids():
    return sorted(record.id for record in every())


def names(**query):
    short = lambda record: record.name.removesuffix(ZONE).removesuffix(".")
    return sorted(f"{record.type} {short(record)}" for record in every(**query))


def create():
    for record in WANTED:
        answer = seen(records.create(zone_id=zone(), **body(record)))
        holds(answer, expected(record))
        created.append(answer.id)
    equal(len({record["type"] for record in WANTED}), 21)
    equal(client.dns.usage.zone.get(zone_id=zone()).record_usage, len(WANTED))


def read():
    for id_, record in zip(created, WANTED, strict=True):
        holds(seen(records.get(id_, zone_id=zone())), expected(record))


def paged():
    page = records.list(zone_id=zone(), per_page=5)
    equal((page.result_info.page, page.result_info.per_page), (1, 5))
    equal(page.result_info.model_extra["total_count"], len(WANTED))
    found = []
    while True:
        assert len(page.result) <= 5
        found += [record.id for record in page.result]
        if not page.has_next_page():
            break
        page = page.get_next_page()
    equal(sorted(found), sorted(created))


def filtered():
    equal(names(type="MX"), ["MX "])
    equal(names(name={"exact": full("sub")}), ["DS sub", "NS sub"])
    equal(names(name={"exact": full("sub")}, type="DS"), ["DS sub"])
    equal(names(name={"startswith": "PROXI"}), ["A proxied"])
    equal(names(name={"contains": "_sip._tcp"}), ["SRV _sip._tcp"])
    equal(names(name={"endswith": full("alias")}), ["CNAME alias"])
    equal(names(content={"exact": "192.0.2.10"}), ["A "])
    equal(names(content={"startswith": "192.0.2."}), ["A ", "A proxied"])
    equal(names(proxied=True), ["A proxied"])
    # The SDK leaves out what is empty.
    equal(names(comment={"present": "true"}), ["AAAA www", "TXT "])
    equal(names(comment={"contains": "mail"}), ["TXT "])
    equal(len(names(comment={"absent": "true"})), len(WANTED) - 2)
    equal(names(match="any", type="PTR", proxied=True), ["A proxied", "PTR 10"])
    equal(names(search="mail.example.net"), ["MX "])


def in_order():
    down = [record.name for record in every(order="name", direction="desc")]
    equal(down, sorted(down, reverse=True))
    up = [record.ttl for record in every(order="ttl", direction="asc")]
    equal(up, sorted(up))


def patch():
    www = id_of("AAAA", "www")
    wanted = {"id": www, "content": "2001:db8::10", "ttl": 600, "comment": "Patched"}
    change = {"type": "AAAA", "name": full("www"), "ttl": 600, "comment": "Patched"}
    answer = seen(records.edit(www, zone_id=zone(), **change))
    holds(answer, wanted)
    assert answer.modified_on >= answer.created_on
    holds(records.get(www, zone_id=zone()), wanted)


def overwrite():
    www = id_of("AAAA", "www")
    whole = {"type": "AAAA", "name": full("www"), "content": "2001:db8::11", "ttl": 1}
    answer = seen(records.update(www, zone_id=zone(), **whole))
    holds(answer, {"id": www, **whole, "comment": None})


def post(kind, name, content):
    return {"type": kind, "name": full(name), "content": content, "ttl": 1}


def batch():
    answer = seen(
        records.batch(
            zone_id=zone(),
            deletes=[{"id": id_of("PTR", "10")}],
            patches=[{"id": id_of("A", "@"), "ttl": 120}],
            puts=[{"id": id_of("TXT", "@"), **post("TXT", "@", '"v=spf1 ~all"')}],
            posts=[post("A", "batch", "192.0.2.20"), post("PTR", "10", "again.example.net")],
        )
    )
    equal([record.id for record in answer.deletes], [id_of("PTR", "10")])
    holds(answer.patches[0], {"id": id_of("A", "@"), "ttl": 120, "content": "192.0.2.10"})
    holds(answer.puts[0], {"id": id_of("TXT", "@"), "content": '"v=spf1 ~all"', "comment": None})
    equal([record.content for record in answer.posts], ["192.0.2.20", "again.example.net"])
    equal(len(every()), len(WANTED) + 1)


def refused_batch():
    before = ids()
    operations = {
        "deletes": [{"id": id_of("MX", "@")}],
        "posts": [post("A", "fine", "192.0.2.30"), post("A", "wrong", "no address")],
    }
    refused(lambda: records.batch(zone_id=zone(), **operations), cloudflare.BadRequestError, 9005)
    equal(ids(), before)


def tags():
    tagged = {**post("A", "tagged", "192.0.2.40"), "tags": ["team:dns", "witness"]}
    plan("free")
    try:
        records.create(zone_id=zone(), **tagged)
        raise AssertionError("a free zone took tags")
    except cloudflare.BadRequestError as error:
        assert error.errors[0].code
    plan("pro")
    answer = seen(records.create(zone_id=zone(), **tagged))
    equal(answer.tags, tagged["tags"])
    assert answer.tags_modified_on is not None
    equal(names(tag={"exact": "team:dns"}), ["A tagged"])
    equal(names(tag={"present": "witness"}, tag_match="any"), ["A tagged"])
    equal(names(tag={"exact": "team:web"}), [])
    equal(seen(records.delete(answer.id, zone_id=zone())).id, answer.id)
    plan("free")


def zone_file():
    text = records.export(zone_id=zone())
    assert f"{ZONE}.\t1\tIN\tMX\t10 mail.example.net.\n" in text, text
    before = len(every())
    answer = seen(records.import_(zone_id=zone(), file=f"imported.{ZONE}. 300 IN A 192.0.2.50\n"))
    equal((answer.recs_added, answer.total_records_parsed), (1, 1))
    equal(len(every()), before + 1)
    equal(names(content={"exact": "192.0.2.50"}), ["A imported"])


def delete():
    deletes = [{"id": id_} for id_ in ids()]
    assert len(deletes) > len(WANTED)
    equal(len(seen(records.batch(zone_id=zone(), deletes=deletes)).deletes), len(deletes))
    equal(every(), [])


def begin():
    situation("records of all types are created", create)
    situation("records are read", read)
    situation("records are listed page by page", paged)
    situation("records are filtered", filtered)
    situation("records are sorted", in_order)
    situation("a record is patched", patch)
    situation("a record is overwritten", overwrite)
    situation("a batch deletes, patches, overwrites and creates", batch)
    situation("a refused batch changes nothing", refused_batch)
    situation("tags are refused on a free zone and kept on a paid one", tags)
    situation("the zone file is exported and imported", zone_file)


def end():
    situation("a batch deletes every record", delete)
