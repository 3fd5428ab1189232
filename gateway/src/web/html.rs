//! The frame of every page for people. A page needs nothing from elsewhere, and runs no script. Other sites are not told
//! its address; of its forms, browsers tell this server alone where they come from.

use actix_web::{HttpResponse, http::StatusCode};
pub use markup::escaped_html as escaped;

/// A page; `title` and `body` are HTML.
pub fn page(status: StatusCode, title: &str, body: &str) -> HttpResponse {
    page_leading_to(status, title, body, "")
}

/// A page whose forms may lead away from here, to this origin alone: browsers ask for a permission for that, too.
pub fn page_leading_to(status: StatusCode, title: &str, body: &str, origin: &str) -> HttpResponse {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' {origin}; base-uri 'none'; \
         frame-ancestors 'none'"
    )
    .replace(" ;", ";");
    let text = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title}</title><style>body{{font:16px/1.5 sans-serif;max-width:30em;\
         margin:4em auto;padding:0 1em}}label,input,button{{display:block;width:100%;box-sizing:border-box;\
         font:inherit;margin:.3em 0}}button{{margin-top:1em}}</style><h1>{title}</h1>{body}</html>"
    );
    HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header(("Content-Security-Policy", policy))
        .insert_header(("Referrer-Policy", "same-origin"))
        .insert_header(("Cache-Control", "no-store"))
        .body(text)
}
