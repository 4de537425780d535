use super::{Listed, PageError, Pages};
use crate::envelope::{ListAnswer, PageInfo};
use crate::limits::PAGES_MAX;
use crate::request::{Method, Request};
use serde_json::{Value, json};

fn pages(per_page: u32) -> Pages {
    Pages::new(Request::new(Method::Get, "/zones", &[]).unwrap(), per_page)
}

fn item(number: usize) -> Value {
    json!({ "id": format!("id{number}") })
}

/// How a list server answers.
#[derive(Clone, Copy, Debug)]
struct Server {
    items: usize,
    /// Items per page at most, whatever is asked for.
    cap: usize,
    info: Info,
    /// Answers the last page again past the end.
    repeats: bool,
    /// Items without an `id`.
    plain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Info {
    Whole,
    Missing,
    ZeroPages,
    NoPages,
}

const SERVER: Server = Server { items: 0, cap: usize::MAX, info: Info::Whole, repeats: false, plain: false };

fn number(request: &Request, name: &str) -> Option<usize> {
    request.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.parse().unwrap())
}

/// The answer that holds these items.
fn answer_of(items: impl IntoIterator<Item = Value>) -> ListAnswer {
    let items: Vec<Value> = items.into_iter().collect();
    let ids = items.iter().map(|item| item["id"].as_str().map(str::to_owned)).collect();
    ListAnswer { items: items.into_iter().collect(), ids, page: None }
}

fn serve(server: Server, request: &Request) -> ListAnswer {
    let per_page = number(request, "per_page").unwrap().min(server.cap);
    let last = server.items.div_ceil(per_page).max(1);
    let mut page = number(request, "page").unwrap_or(1);
    if server.repeats {
        page = page.min(last);
    }
    let from = ((page - 1) * per_page).min(server.items);
    let to = (from + per_page).min(server.items);
    let make = |n| if server.plain { json!(format!("text{n}")) } else { item(n) };
    let items: Vec<Value> = (from..to).map(make).collect();
    let whole = PageInfo {
        page: Some(page as u64),
        per_page: Some(per_page as u64),
        count: Some(items.len() as u64),
        total_count: Some(server.items as u64),
        total_pages: Some(server.items.div_ceil(per_page) as u64),
        cursor: None,
    };
    let info = match server.info {
        Info::Whole => Some(whole),
        Info::Missing => None,
        Info::ZeroPages => Some(PageInfo { total_pages: Some(0), total_count: None, ..whole }),
        Info::NoPages => Some(PageInfo { total_pages: None, ..whole }),
    };
    ListAnswer { page: info, ..answer_of(items) }
}

/// Reads the list; what was read and how many calls it took.
fn list(server: Server, per_page: u32) -> (Listed, usize) {
    let mut pages = pages(per_page);
    let mut request = Some(pages.first());
    let mut calls = 0;
    while let Some(next) = request {
        calls += 1;
        request = pages.next(serve(server, &next)).unwrap();
    }
    (pages.finish(), calls)
}

#[test]
fn b157_every_item_is_found_and_every_list_ends() {
    let server = |items, info| Server { items, info, ..SERVER };
    let repeats = |items, info| Server { repeats: true, ..server(items, info) };
    let table = [
        ("250 records", server(250, Info::Whole), 100, 3),
        ("60 zones", server(60, Info::Whole), 50, 2),
        ("120 tunnels", server(120, Info::Whole), 50, 3),
        ("exactly one page", server(50, Info::Whole), 50, 1),
        ("nothing", server(0, Info::Whole), 50, 1),
        ("result_info missing", server(120, Info::Missing), 50, 3),
        ("result_info missing, full last page", server(100, Info::Missing), 50, 3),
        ("total_pages 0", server(120, Info::ZeroPages), 50, 3),
        ("total_pages missing", server(100, Info::NoPages), 50, 2),
        ("repeated page", repeats(120, Info::Missing), 50, 3),
        ("repeated full page, nothing told", repeats(100, Info::Missing), 50, 3),
        ("repeated full page, total_pages 0", repeats(100, Info::ZeroPages), 50, 3),
        ("a server that grants less", Server { cap: 20, ..server(50, Info::Whole) }, 50, 3),
        (
            "a server that grants less, total_pages 0",
            Server { cap: 20, ..server(50, Info::ZeroPages) },
            50,
            3,
        ),
        ("items without id", Server { plain: true, ..server(120, Info::Whole) }, 50, 3),
        ("repeated items without id", Server { plain: true, ..repeats(100, Info::Missing) }, 50, 3),
    ];
    for (situation, server, per_page, calls) in table {
        let (listed, made) = list(server, per_page);
        assert_eq!(listed.items.len(), server.items, "{situation}");
        assert_eq!(made, calls, "{situation}");
        assert_eq!(listed.one_page, calls == 1, "{situation}");
    }
}

#[test]
fn b157_a_server_that_only_knows_one_page_is_not_believed() {
    // `page` is ignored: the first page comes again and again, though there are three.
    let first = serve(Server { items: 120, ..SERVER }, &pages(50).first());
    let mut reading = pages(50);
    assert!(reading.next(first.clone()).unwrap().is_some());
    assert_eq!(reading.next(first.clone()).unwrap(), None);
    let listed = reading.finish();
    assert_eq!((listed.items.len(), listed.complete, listed.one_page), (50, false, false));
}

#[test]
fn lists_that_lack_items_are_not_complete() {
    let info = PageInfo { total_count: Some(9), total_pages: Some(1), ..PageInfo::default() };
    let mut reading = pages(50);
    let answer = ListAnswer { page: Some(info), ..answer_of([item(1)]) };
    assert_eq!(reading.next(answer).unwrap(), None);
    assert!(!reading.finish().complete);
    assert!(list(Server { items: 120, ..SERVER }, 50).0.complete);
}

#[test]
fn an_empty_page_ends_a_list_that_was_told_to_be_longer() {
    let info = PageInfo { total_pages: Some(3), ..PageInfo::default() };
    let answer = |items: Vec<Value>| ListAnswer { page: Some(info.clone()), ..answer_of(items) };
    let mut reading = pages(1);
    assert!(reading.next(answer(vec![item(1)])).unwrap().is_some());
    assert_eq!(reading.next(answer(Vec::new())).unwrap(), None);
    let listed = reading.finish();
    assert_eq!((listed.items.len(), listed.complete), (1, false));
}

#[test]
fn items_that_move_between_pages_are_kept_once() {
    let page = |items: &[usize], page| {
        let info =
            PageInfo { page: Some(page), total_pages: Some(2), per_page: Some(2), ..PageInfo::default() };
        ListAnswer { page: Some(info), ..answer_of(items.iter().map(|n| item(*n))) }
    };
    let mut reading = pages(2);
    assert!(reading.next(page(&[1, 2], 1)).unwrap().is_some());
    assert_eq!(reading.next(page(&[2, 3], 2)).unwrap(), None);
    let items: Vec<Value> = reading.finish().items.iter().collect();
    assert_eq!(items, [item(1), item(2), item(3)]);
}

#[test]
fn b157_a_list_without_end_ends() {
    let mut reading = pages(1);
    for page in 1..PAGES_MAX {
        let request = reading.next(answer_of([item(page as usize)])).unwrap().unwrap();
        assert_eq!(number(&request, "page"), Some(page as usize + 1));
    }
    assert_eq!(reading.next(answer_of([item(0)])), Err(PageError::TooManyPages));
}

#[test]
fn cursors_are_followed_to_the_end() {
    let page = |n: usize, cursor: Option<&str>| {
        let info = PageInfo { cursor: cursor.map(str::to_owned), ..PageInfo::default() };
        ListAnswer { page: Some(info), ..answer_of([item(n)]) }
    };
    let request = Request::new(Method::Get, "/zones", &[]).unwrap();
    let mut reading = Pages::cursor(request.clone());
    assert_eq!(reading.first(), request);
    let next = reading.next(page(1, Some("a b"))).unwrap().unwrap();
    assert_eq!(next.uri(), "/zones?cursor=a%20b");
    assert_eq!(reading.next(page(2, None)).unwrap(), None);
    assert_eq!(reading.finish().items.len(), 2);

    let mut circle = Pages::cursor(request);
    assert!(circle.next(page(1, Some("a"))).unwrap().is_some());
    assert_eq!(circle.next(page(1, Some("a"))).unwrap(), None);
    assert!(!circle.finish().complete);
}
