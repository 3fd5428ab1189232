//! `/-/graphql-explorer`: GraphiQL, a page on which people try queries. It is part of the program and needs nothing
//! from elsewhere. Queries are sent with the token that is written on the page, which does not keep it, or else for whoever is
//! signed in in the browser.
//!
//! The page's files are built from their packages by `cargo xtask explorer` (`xtask/explorer`), and stand here in the
//! compressed form in which browsers ask for them.

use std::io::Read as _;

use actix_web::{HttpRequest, HttpResponse, http::header};
use flate2::read::GzDecoder;
use kernel::{Error, access::Anyone};

use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::Call,
    openapi::{AnswerDoc, Schemas},
    params,
    present::{Answer, Custom},
    rest::org::session_cookie,
    routes,
};

routes! { "GraphQL" at "//-/graphql-explorer", any scope;
    GET ""            => page : Anyone,
    GET "/{filename}" => file : Anyone,
}

/// Nothing of the page comes from elsewhere, and no script stands in it. Its editors (Monaco) write their themes and the
/// places of their lines as styles into the page, which is why those may stand there.
const POLICY: &str = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; \
                      font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
/// How long browsers keep the files, in seconds: another release brings others.
const CACHE: &str = "public, max-age=3600";

/// A file of the page.
#[derive(Clone, Copy)]
struct PageFile {
    name: &'static str,
    content_type: &'static str,
    /// Compressed with gzip.
    content: &'static [u8],
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

const FILES: &[PageFile] = &[
    PageFile {
        name: "explorer.js",
        content_type: SCRIPT,
        content: include_bytes!("explorer/explorer.js.gz"),
    },
    PageFile {
        name: "explorer.css",
        content_type: "text/css; charset=utf-8",
        content: include_bytes!("explorer/explorer.css.gz"),
    },
    PageFile {
        name: "editor.worker.js",
        content_type: SCRIPT,
        content: include_bytes!("explorer/editor.worker.js.gz"),
    },
    PageFile {
        name: "graphql.worker.js",
        content_type: SCRIPT,
        content: include_bytes!("explorer/graphql.worker.js.gz"),
    },
    PageFile {
        name: "json.worker.js",
        content_type: SCRIPT,
        content: include_bytes!("explorer/json.worker.js.gz"),
    },
    PageFile {
        name: "codicon.ttf",
        content_type: "font/ttf",
        content: include_bytes!("explorer/codicon.ttf.gz"),
    },
    PageFile {
        name: "licences.txt",
        content_type: "text/plain; charset=utf-8",
        content: include_bytes!("explorer/licences.txt.gz"),
    },
];

async fn page(app: App, call: Call<Anyone>) -> ApiResult<Custom> {
    let cookie = call.header("cookie");
    let session = match session_cookie::person(&app, cookie, call.address()).await? {
        Some(_) => session_cookie::shown(cookie),
        None => None,
    };
    let csrf = session.map(|session| session_cookie::csrf_value(&session)).unwrap_or_default();
    let answer = HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(include_str!("explorer/explorer.html").replace("{{csrf_token}}", &csrf));
    Ok(Custom(answer))
}

params! {
    struct FileName {
        /// Name of a script, style, font or license text of the page.
        filename: String,
    }
}

async fn file(_: App, call: Call<Anyone, FileName>) -> ApiResult<PageFile> {
    let found = FILES.iter().find(|file| file.name == call.params.filename);
    Ok(*found.ok_or_else(Error::missing)?)
}

impl Answer for PageFile {
    fn respond(self, req: &HttpRequest) -> HttpResponse {
        let mut answer = HttpResponse::Ok();
        answer
            .content_type(self.content_type)
            // A worker has the policy of its own file.
            .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
            .insert_header((header::CACHE_CONTROL, CACHE))
            .insert_header((header::VARY, "Accept-Encoding"));
        if takes_gzip(req) {
            return answer.insert_header((header::CONTENT_ENCODING, "gzip")).body(self.content);
        }
        let mut plain = Vec::new();
        match GzDecoder::new(self.content).read_to_end(&mut plain) {
            Ok(_) => answer.body(plain),
            Err(cause) => actix_web::ResponseError::error_response(&ApiError::from(
                Error::internal(format!("{}: {cause}", self.name)),
            )),
        }
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        AnswerDoc::bytes(200)
    }
}

fn takes_gzip(req: &HttpRequest) -> bool {
    let taken = req.headers().get_all(header::ACCEPT_ENCODING);
    let mut taken =
        taken.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    taken.any(|encoding| {
        let (name, weight) = encoding.split_once(';').unwrap_or((encoding, ""));
        let refused = matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        matches!(name.trim(), "gzip" | "x-gzip") && !refused
    })
}
