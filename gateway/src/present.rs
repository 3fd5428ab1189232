//! The forms of answers: status, paging headers, and how documents describe them.

use std::cell::Cell;

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
    web::Bytes,
};
use kernel::page::{COUNT_LIMIT, Page, PageRequest, Total};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    extract::RawMap,
    openapi::{AnswerDoc, Schemas},
};

/// What a handler may answer with.
pub trait Answer {
    fn respond(self, req: &HttpRequest) -> HttpResponse;
    fn describe(schemas: &mut Schemas) -> AnswerDoc;
}

/// What an answer sends as its body.
pub trait Entity: Serialize + ToSchema + 'static {}
impl<T: Serialize + ToSchema + 'static> Entity for T {}

/// Texts up to this length are written where the last one was.
const KEPT: usize = 256 << 10;

thread_local! {
    /// Room for the text of an answer, which does not move while it is written.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

// Compiled for each type of answer: it serializes, and leaves the rest to functions that do not know the type.
fn json(status: StatusCode, body: &impl Serialize) -> HttpResponse {
    let mut room = empty_room();
    let result = serde_json::to_writer(&mut room, body);
    written(status, room, result)
}

#[inline(never)]
fn empty_room() -> Vec<u8> {
    let mut room = ROOM.take();
    room.clear();
    room
}

/// The answer whose text was written into `room`.
#[inline(never)]
fn written(status: StatusCode, room: Vec<u8>, result: serde_json::Result<()>) -> HttpResponse {
    let text = if room.capacity() > KEPT {
        Bytes::from(room)
    } else {
        let text = Bytes::copy_from_slice(&room);
        ROOM.set(room);
        text
    };
    match result {
        Ok(()) => HttpResponse::build(status).content_type("application/json").body(text),
        Err(cause) => {
            tracing::error!(error = %cause, "an answer cannot be written");
            HttpResponse::InternalServerError().finish()
        }
    }
}

/// 200 with a record.
pub struct Json<T>(pub T);

impl<T: Entity> Answer for Json<T> {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        json(StatusCode::OK, &self.0)
    }

    fn describe(schemas: &mut Schemas) -> AnswerDoc {
        AnswerDoc::json(200, schemas.of::<T>())
    }
}

/// 201 with what was made.
pub struct Created<T>(pub T);

impl<T: Entity> Answer for Created<T> {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        json(StatusCode::CREATED, &self.0)
    }

    fn describe(schemas: &mut Schemas) -> AnswerDoc {
        AnswerDoc::json(201, schemas.of::<T>())
    }
}

/// 201 with the message `201 Created`, for operations that return no record.
pub struct CreatedMessage;

impl Answer for CreatedMessage {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        json(StatusCode::CREATED, &serde_json::json!({ "message": "201 Created" }))
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        AnswerDoc::message(201)
    }
}

/// 202, for what will be done.
pub struct Accepted;

impl Answer for Accepted {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        json(StatusCode::ACCEPTED, &serde_json::json!({ "message": "202 Accepted" }))
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        AnswerDoc::message(202)
    }
}

/// 202 with what can be told already.
pub struct AcceptedWith<T>(pub T);

impl<T: Entity> Answer for AcceptedWith<T> {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        json(StatusCode::ACCEPTED, &self.0)
    }

    fn describe(schemas: &mut Schemas) -> AnswerDoc {
        AnswerDoc::json(202, schemas.of::<T>())
    }
}

/// 202 without a body.
pub struct AcceptedEmpty;

impl Answer for AcceptedEmpty {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        HttpResponse::Accepted().finish()
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        AnswerDoc::empty(202)
    }
}

/// 204 without a body.
pub struct NoContent;

impl Answer for NoContent {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        HttpResponse::NoContent().finish()
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        AnswerDoc::empty(204)
    }
}

/// 200 without a body.
pub struct EmptyOk;

impl Answer for EmptyOk {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        HttpResponse::Ok().finish()
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        AnswerDoc::empty(200)
    }
}

/// An answer that is no JSON, or whose headers matter: made by the handler itself.
pub struct Custom(pub HttpResponse);

impl Answer for Custom {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        self.0
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        AnswerDoc::bytes(200)
    }
}

/// Ends an answer to HEAD whose body nobody worked out: it has neither a length nor a tag.
pub fn head_alone(mut response: HttpResponseBuilder) -> HttpResponse {
    response.body(actix_web::body::None::new())
}

/// A record with headers of its own.
pub struct WithHeaders<T> {
    pub body: T,
    pub headers: Vec<(&'static str, String)>,
}

impl<T: Answer> Answer for WithHeaders<T> {
    fn respond(self, req: &HttpRequest) -> HttpResponse {
        let mut response = self.body.respond(req);
        set_headers(&mut response, self.headers);
        response
    }

    fn describe(schemas: &mut Schemas) -> AnswerDoc {
        T::describe(schemas)
    }
}

fn set_headers(response: &mut HttpResponse, headers: Vec<(&'static str, String)>) {
    for (name, value) in headers {
        if let Ok(value) = header::HeaderValue::from_bytes(value.as_bytes()) {
            response.headers_mut().insert(header::HeaderName::from_static(name), value);
        }
    }
}

/// A page of records with its paging headers.
pub struct PagedList<T>(pub Page<T>);

impl<T: Entity> Answer for PagedList<T> {
    fn respond(self, req: &HttpRequest) -> HttpResponse {
        let mut response = json(StatusCode::OK, &self.0.items);
        set_paging(&mut response, req, self.0.total, self.0.items.is_empty());
        response
    }

    fn describe(schemas: &mut Schemas) -> AnswerDoc {
        list_doc(&schemas.of::<T>())
    }
}

fn list_doc(item: &serde_json::Value) -> AnswerDoc {
    AnswerDoc::json(200, serde_json::json!({ "type": "array", "items": item }))
}

#[inline(never)]
fn set_paging(response: &mut HttpResponse, req: &HttpRequest, total: Total, empty: bool) {
    let links = req.extensions().get::<PageLinks>().cloned();
    if let (Some(links), Some(app)) = (links, req.app_data::<actix_web::web::Data<App>>()) {
        for (name, value) in links.headers(app.urls.origin(), total, empty) {
            if let Ok(value) = header::HeaderValue::from_str(&value) {
                response.headers_mut().insert(header::HeaderName::from_static(name), value);
            }
        }
    }
}

/// A page found by its last element; the end is an empty page without a link.
pub struct KeysetList<T> {
    pub items: Vec<T>,
    /// The parameter that asks for the next page, with its value.
    pub next: Option<(&'static str, String)>,
}

impl<T> KeysetList<T> {
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> KeysetList<U> {
        KeysetList { items: self.items.into_iter().map(f).collect(), next: self.next }
    }

    /// A page that is not counted; `token` tells how the next one names the last element of this one.
    pub fn of_page(
        page: Page<T>,
        parameter: &'static str,
        token: impl FnOnce(&T) -> String,
    ) -> Self {
        let next = match page.total {
            Total::Uncounted { more: true } => {
                page.items.last().map(|last| (parameter, token(last)))
            }
            _ => None,
        };
        Self { items: page.items, next }
    }
}

impl<T: Entity> Answer for KeysetList<T> {
    fn respond(self, req: &HttpRequest) -> HttpResponse {
        let mut response = json(StatusCode::OK, &self.items);
        if let Some((name, value)) = self.next {
            set_next(&mut response, req, name, &value);
        }
        response
    }

    fn describe(schemas: &mut Schemas) -> AnswerDoc {
        list_doc(&schemas.of::<T>())
    }
}

#[inline(never)]
fn set_next(response: &mut HttpResponse, req: &HttpRequest, name: &str, value: &str) {
    let links = req.extensions().get::<PageLinks>().cloned();
    if let (Some(links), Some(app)) = (links, req.app_data::<actix_web::web::Data<App>>()) {
        let link = links.next_by(app.urls.origin(), name, value);
        if let Ok(link) = header::HeaderValue::from_str(&link) {
            response.headers_mut().insert(header::LINK, link);
        }
    }
}

/// One of two forms of the same answer.
pub enum Either<A, B> {
    Left(A),
    Right(B),
}

impl<A: Answer, B: Answer> Answer for Either<A, B> {
    fn respond(self, req: &HttpRequest) -> HttpResponse {
        match self {
            Self::Left(answer) => answer.respond(req),
            Self::Right(answer) => answer.respond(req),
        }
    }

    fn describe(schemas: &mut Schemas) -> AnswerDoc {
        A::describe(schemas).or(B::describe(schemas))
    }
}

/// Credentials never come back in a link.
const SECRETS: [&str; 6] =
    ["private_token", "access_token", "bearer_token", "job_token", "token", "password"];

const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'*');

/// What links to other pages of a list repeat: made by [`Call`](crate::extract::Call), used by [`PagedList`].
#[derive(Clone, Debug)]
pub struct PageLinks {
    path: String,
    params: Vec<(String, String)>,
    page: PageRequest,
}

impl PageLinks {
    pub(crate) fn new(
        path: &str,
        raw: &RawMap,
        defaults: Vec<(&'static str, String)>,
        page: PageRequest,
    ) -> Self {
        let mut params = Vec::new();
        for (name, value) in raw.iter().filter(|(name, _)| !SECRETS.contains(name)) {
            value.pairs(name, &mut params);
        }
        for (name, value) in defaults {
            if !raw.has(name) {
                params.push((name.to_owned(), value));
            }
        }
        params.retain(|(name, _)| name != "page" && name != "per_page");
        Self { path: path.to_owned(), params, page }
    }

    fn url(&self, origin: &str, extra: &[(&str, String)]) -> String {
        let mut params: Vec<(&str, &str)> = self
            .params
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .filter(|(name, _)| extra.iter().all(|(other, _)| other != name))
            .collect();
        params.extend(extra.iter().map(|(name, value)| (*name, value.as_str())));
        params.sort();
        let pairs: Vec<String> = params
            .into_iter()
            .map(|(name, value)| {
                format!(
                    "{}={}",
                    utf8_percent_encode(name, IN_QUERY),
                    utf8_percent_encode(value, IN_QUERY)
                )
            })
            .collect();
        format!("{origin}{}?{}", self.path, pairs.join("&"))
    }

    fn at(&self, origin: &str, page: i64) -> String {
        self.url(
            origin,
            &[("page", page.to_string()), ("per_page", self.page.per_page.to_string())],
        )
    }

    fn next_by(&self, origin: &str, name: &str, value: &str) -> String {
        let extra = [(name, value.to_owned()), ("per_page", self.page.per_page.to_string())];
        format!("<{}>; rel=\"next\"", self.url(origin, &extra))
    }

    fn headers(&self, origin: &str, total: Total, empty: bool) -> Vec<(&'static str, String)> {
        let PageRequest { page, per_page } = self.page;
        let counted = match total {
            Total::Counted(total) if total <= COUNT_LIMIT => Some(total),
            _ => None,
        };
        let pages = counted.map(|total| ((total + per_page - 1) / per_page).max(1));
        let more = match total {
            Total::Uncounted { more } => more,
            Total::Counted(total) => page.saturating_mul(per_page) < total,
        };
        let beyond = empty && page > 1;
        let next = (more && !beyond).then(|| page.saturating_add(1));
        let prev = (page > 1 && !beyond).then_some(page - 1);
        let shown = |page: Option<i64>| page.map(|page| page.to_string()).unwrap_or_default();
        let mut headers = vec![
            ("x-per-page", per_page.to_string()),
            ("x-page", page.to_string()),
            ("x-next-page", shown(next)),
            ("x-prev-page", shown(prev)),
        ];
        if let (Some(total), Some(pages)) = (counted, pages) {
            headers.push(("x-total", total.to_string()));
            headers.push(("x-total-pages", pages.to_string()));
        }
        let links = [("prev", prev), ("next", next), ("first", Some(1)), ("last", pages)];
        let links: Vec<String> = links
            .into_iter()
            .filter_map(|(rel, page)| Some(format!("<{}>; rel=\"{rel}\"", self.at(origin, page?))))
            .collect();
        headers.push(("link", links.join(", ")));
        headers
    }
}
