//! Parts of a content: what a request asks for with `Range`, and what the answer says of it.

use std::ops::Range;

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
};
use kernel::Ability;
use serde_json::json;

use crate::{
    extract::Call,
    openapi::{AnswerDoc, Schemas},
    present::Answer,
};

/// The range and cache headers of a request.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    range: Option<String>,
    if_range: Option<String>,
    if_none_match: Option<String>,
}

/// The part of a content to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    Whole,
    Part(Range<u64>),
    /// The part lies behind the end.
    Outside,
    /// The caller has all of it already.
    Unchanged,
}

impl Conditions {
    pub fn of<A: Ability, P>(call: &Call<A, P>) -> Self {
        let given = |name| call.header(name).map(str::to_owned);
        Self {
            range: given("Range"),
            if_range: given("If-Range"),
            if_none_match: given("If-None-Match"),
        }
    }

    /// Chooses from a content of `length` bytes. `tag` is its strong entity tag, where it has one.
    pub fn select(&self, length: u64, tag: Option<&str>) -> Selection {
        if let (Some(known), Some(tag)) = (&self.if_none_match, tag) {
            let is_same = |one: &str| one == "*" || one.trim_start_matches("W/") == tag;
            if known.split(',').map(str::trim).any(is_same) {
                return Selection::Unchanged;
            }
        }
        // A part of another content than the caller began with would make nonsense of both.
        let is_stale = self.if_range.as_deref().is_some_and(|given| Some(given.trim()) != tag);
        match &self.range {
            Some(range) if !is_stale => part(range, length),
            _ => Selection::Whole,
        }
    }
}

/// One part as HTTP writes it. What is no such thing counts as if it had not been said, and so do several parts at once.
fn part(range: &str, length: u64) -> Selection {
    let Some((unit, span)) = range.split_once('=') else { return Selection::Whole };
    let Some((first, last)) = span.trim().split_once('-') else { return Selection::Whole };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Selection::Whole;
    }
    match (number(first), number(last)) {
        (Ok(None), Ok(Some(0))) => Selection::Outside,
        (Ok(None), Ok(Some(_))) if length == 0 => Selection::Outside,
        (Ok(None), Ok(Some(last))) => Selection::Part(length.saturating_sub(last)..length),
        (Ok(Some(first)), Ok(last)) if last.is_none_or(|last| last >= first) => {
            let end = last.map_or(length, |last| last.saturating_add(1).min(length));
            if first < length { Selection::Part(first..end) } else { Selection::Outside }
        }
        _ => Selection::Whole,
    }
}

/// A number that may be missing, and may be larger than any content.
fn number(text: &str) -> Result<Option<u64>, ()> {
    match text {
        "" => Ok(None),
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(Some(text.parse().unwrap_or(u64::MAX)))
        }
        _ => Err(()),
    }
}

/// The beginning of an answer that sends a whole content or a part of it; else the whole answer, without a body.
pub fn begin(
    selection: &Selection,
    length: u64,
    tag: Option<&str>,
) -> Result<HttpResponseBuilder, Box<HttpResponse>> {
    let mut response = match selection {
        Selection::Whole => HttpResponse::Ok(),
        Selection::Part(part) => {
            let mut response = HttpResponse::PartialContent();
            let last = part.end.saturating_sub(1);
            let told = format!("bytes {}-{last}/{length}", part.start);
            response.insert_header((header::CONTENT_RANGE, told));
            response
        }
        Selection::Outside => {
            let mut response = HttpResponse::build(StatusCode::RANGE_NOT_SATISFIABLE);
            response.insert_header((header::CONTENT_RANGE, format!("bytes */{length}")));
            return Err(Box::new(response.json(json!({ "error": "416 Range Not Satisfiable" }))));
        }
        Selection::Unchanged => HttpResponse::NotModified(),
    };
    response.insert_header((header::ACCEPT_RANGES, "bytes"));
    if let Some(tag) = tag {
        response.insert_header((header::ETAG, tag));
    }
    match selection {
        Selection::Unchanged => Err(Box::new(response.finish())),
        _ => Ok(response),
    }
}

impl Selection {
    /// Which bytes are sent of a content of this length.
    pub fn span(&self, length: u64) -> Range<u64> {
        match self {
            Self::Whole => 0..length,
            Self::Part(part) => part.clone(),
            Self::Outside | Self::Unchanged => 0..0,
        }
    }
}

/// An answer that sends a content of which parts can be had.
pub struct Content(pub HttpResponse);

impl Answer for Content {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        self.0
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        let tagged = "Entity tag of an earlier response; answers 304 if nothing has changed.";
        AnswerDoc::bytes(200)
            .with_parts("application/octet-stream")
            .heeding("If-None-Match", tagged)
            .heeding(
                "If-Range",
                "Entity tag; if the content has another one, the range is ignored.",
            )
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Conditions,
        Selection::{self, Outside, Part, Unchanged, Whole},
    };

    fn selected(range: &str, length: u64) -> Selection {
        Conditions { range: Some(range.to_owned()), ..Conditions::default() }.select(length, None)
    }

    #[test]
    fn one_part_is_chosen_as_http_says() {
        for (range, chosen) in [
            ("bytes=0-0", Part(0..1)),
            ("bytes=2-", Part(2..10)),
            ("Bytes = 2-4", Part(2..5)),
            ("bytes=-3", Part(7..10)),
            ("bytes=-99", Part(0..10)),
            ("bytes=9-99999999999999999999999", Part(9..10)),
            ("bytes=10-", Outside),
            ("bytes=99999999999999999999999-", Outside),
            ("bytes=-0", Outside),
            ("bytes=4-2", Whole),
            ("bytes=0-1,4-5", Whole),
            ("bytes=-", Whole),
            ("bytes=+1-2", Whole),
            ("bytes=a-b", Whole),
            ("lines=0-1", Whole),
            ("bytes", Whole),
        ] {
            assert_eq!(selected(range, 10), chosen, "{range}");
        }
        for range in ["bytes=0-", "bytes=-1", "bytes=0-0"] {
            assert_eq!(selected(range, 0), Outside, "{range} of nothing");
        }
    }

    #[test]
    fn tags_decide_before_parts() {
        let asked = |if_range: Option<&str>, if_none_match: Option<&str>| {
            let own = |text: Option<&str>| text.map(str::to_owned);
            let conditions = Conditions {
                range: own(Some("bytes=1-")),
                if_range: own(if_range),
                if_none_match: own(if_none_match),
            };
            conditions.select(3, Some("\"a\""))
        };
        assert_eq!(asked(Some("\"a\""), None), Part(1..3));
        assert_eq!(asked(Some("\"b\""), None), Whole);
        assert_eq!(asked(Some("W/\"a\""), None), Whole);
        assert_eq!(asked(None, Some("\"b\", W/\"a\"")), Unchanged);
        assert_eq!(asked(None, Some("\"b\"")), Part(1..3));
    }
}
