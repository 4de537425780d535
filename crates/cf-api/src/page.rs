//! Lists of several pages, as a state machine: it makes the next request from the last answer and ends in any
//! case.
//!
//! It sends nothing. Which calls are paged, and how many items a page may hold, is said by whoever makes the
//! first request.

use crate::envelope::{ListAnswer, PageInfo};
use crate::items::Items;
use crate::limits::PAGES_MAX;
use crate::request::Request;
use std::collections::BTreeSet;

/// A list being read.
///
/// # Flow
/// Send [`Pages::first`]; give every answer to [`Pages::next`] and send what it returns, until that is
/// `None`; then take [`Pages::finish`].
///
/// # Guarantees
/// At most [`PAGES_MAX`] requests. An item that turns up on two pages, because the list changed meanwhile or
/// the server repeats a page (B157), is kept once.
#[derive(Clone, Debug)]
pub struct Pages {
    request: Request,
    style: Style,
    per_page: u32,
    page: u32,
    items: Items,
    last_page_at: usize,
    ids: BTreeSet<String>,
    cursors: BTreeSet<String>,
    complete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Page,
    Cursor,
}

/// A list that was read to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The items in the server's order.
    pub items: Items,
    /// Whether one page held them all: only then is what it lacks absent, for between two pages items may
    /// move.
    pub one_page: bool,
    /// Whether nothing hints at missing items (a repeated page, fewer items than `total_count`).
    pub complete: bool,
}

/// Why a list can't be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// No end after [`PAGES_MAX`] pages.
    #[error("the list has more than {PAGES_MAX} pages")]
    TooManyPages,
}

impl Pages {
    /// A list of page style (`page`, `per_page`): zones, DNS records, tunnels and most others.
    pub fn new(request: Request, per_page: u32) -> Self {
        let request = request.set_query("per_page", per_page.to_string());
        Pages::start(request, per_page, Style::Page)
    }

    /// A list of cursor style: R2 buckets, rulesets, items of lists. How `request` asks for a page size
    /// differs, so it says so itself.
    pub fn cursor(request: Request) -> Self {
        Pages::start(request, 0, Style::Cursor)
    }

    fn start(request: Request, per_page: u32, style: Style) -> Self {
        Pages {
            request,
            style,
            per_page,
            page: 1,
            items: Items::default(),
            last_page_at: 0,
            ids: BTreeSet::new(),
            cursors: BTreeSet::new(),
            complete: true,
        }
    }

    /// The request for the first page. It names no page: 1 is the default.
    pub fn first(&self) -> Request {
        self.request.clone()
    }

    /// Takes the answer to the last request; the next request, or `None` at the end.
    ///
    /// # Errors
    /// [`PageError`]; the list is then unknown, not shorter.
    pub fn next(&mut self, answer: ListAnswer) -> Result<Option<Request>, PageError> {
        let info = answer.page.unwrap_or_default();
        let count = answer.items.len();
        let fresh = self.keep(&answer.items, answer.ids);
        let next = match self.style {
            Style::Page => self.next_page(count, fresh, &info),
            Style::Cursor => self.next_cursor(&info),
        };
        if next.is_none() {
            let total = info.total_count.unwrap_or(0);
            self.complete &= self.items.len() as u64 >= total;
            return Ok(None);
        }
        if self.page >= PAGES_MAX {
            return Err(PageError::TooManyPages);
        }
        self.page += 1;
        Ok(next)
    }

    /// What was read.
    pub fn finish(self) -> Listed {
        Listed { items: self.items, one_page: self.page == 1, complete: self.complete }
    }

    /// Keeps the items that are new; whether there were any.
    fn keep(&mut self, items: &Items, ids: Vec<Option<String>>) -> bool {
        let before = self.items.len();
        if self.page > 1 && self.is_last_page(items) {
            return false;
        }
        for (at, id) in ids.into_iter().enumerate() {
            if let Some(text) = items.text(at)
                && id.is_none_or(|id| self.ids.insert(id))
            {
                self.items.push(text);
            }
        }
        self.last_page_at = before;
        self.items.len() > before
    }

    /// True when these items were kept of the page before: a server without such a page may send that one again.
    fn is_last_page(&self, items: &Items) -> bool {
        let kept = self.last_page_at..self.items.len();
        kept.len() == items.len() && kept.zip(0..).all(|(kept, at)| self.items.text(kept) == items.text(at))
    }

    fn next_page(&mut self, count: usize, fresh: bool, info: &PageInfo) -> Option<Request> {
        let page = u64::from(self.page);
        // A server may grant fewer items per page than we asked for; its word counts.
        let per_page = info.per_page.filter(|n| *n > 0).unwrap_or(u64::from(self.per_page));
        let pages = match (info.total_pages, info.total_count) {
            (Some(pages), _) if pages > 0 => Some(pages),
            (_, Some(total)) if total > 0 && per_page > 0 => Some(total.div_ceil(per_page)),
            _ => None,
        };
        let more = match pages {
            Some(pages) => page < pages,
            None => count as u64 >= per_page,
        };
        if !more {
            return None;
        }
        if !fresh {
            self.complete = false;
            return None;
        }
        Some(self.request.clone().set_query("page", (page + 1).to_string()))
    }

    fn next_cursor(&mut self, info: &PageInfo) -> Option<Request> {
        let cursor = info.cursor.as_ref()?;
        if !self.cursors.insert(cursor.clone()) {
            self.complete = false;
            return None;
        }
        Some(self.request.clone().set_query("cursor", cursor.clone()))
    }
}

#[cfg(test)]
mod tests;
