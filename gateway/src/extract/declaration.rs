//! What a route says of its parameters, without their type: what checks a request by it is compiled once for all routes.

use kernel::{
    Error,
    page::{MAX_PER_PAGE, PageRequest},
};

use super::{
    cursor::no_keyset,
    params::{INVALID, NOT_ALLOWED, Param, ParamDoc, ParamErrors, Params},
    raw::{Raw, RawMap},
};
use crate::error::ApiResult;

/// What a type of [`Params`] says of itself.
pub(crate) struct Declaration {
    pub(crate) paged: bool,
    pub(crate) keyset: bool,
    forgiving: bool,
    pub(super) has_route: fn(&[(&'static str, Raw)]) -> bool,
    pub(crate) describe: fn() -> Vec<ParamDoc>,
    pub(super) defaults: fn() -> Vec<(&'static str, String)>,
    rules: fn(&RawMap) -> Option<String>,
}

impl Declaration {
    pub(crate) const fn of<P: Params>() -> Self {
        Self {
            paged: P::PAGED,
            keyset: P::KEYSET,
            forgiving: P::FORGIVING,
            has_route: P::has_route,
            describe: P::describe,
            defaults: P::defaults,
            rules: P::rules,
        }
    }

    /// Which page is wanted; a 400 with all that is wrong with the parameters. `read` is what their type said of `raw`.
    pub(super) fn check(
        &self,
        raw: &RawMap,
        read: Result<(), ParamErrors>,
    ) -> ApiResult<PageRequest> {
        let is_read = read.is_ok();
        let mut flaws = read.err().unwrap_or_default();
        let page = if self.paged { self.page(raw, &mut flaws)? } else { PageRequest::default() };
        let mut texts: Vec<String> = Vec::new();
        if !flaws.is_empty() {
            texts.push(flaws.text());
        }
        texts.extend((self.rules)(raw));
        if is_read && texts.is_empty() {
            return Ok(page);
        }
        Err(Error::bad_request().parameters(texts.join(", ")).into())
    }

    fn page(&self, raw: &RawMap, flaws: &mut ParamErrors) -> ApiResult<PageRequest> {
        if !self.keyset && raw.text("pagination") == Some("keyset") {
            return Err(no_keyset().into());
        }
        let default = PageRequest::default();
        let mut number = |name: &str, default: i64| match raw.get(name).map(<i64 as Param>::read) {
            None => default,
            Some(Ok(given)) => given.unwrap_or(default),
            Some(Err(_)) => {
                flaws.add(name, INVALID);
                default
            }
        };
        let page = number("page", default.page).max(1);
        let per_page = match number("per_page", default.per_page) {
            0 if self.forgiving => default.per_page,
            0 => {
                flaws.add("per_page", NOT_ALLOWED);
                default.per_page
            }
            given if given < 0 => default.per_page,
            given => given.min(MAX_PER_PAGE),
        };
        Ok(PageRequest { page, per_page })
    }
}
