//! Forms that a browser sends with a session are taken from the pages of this server alone: pages of others could send them
//! without the person's knowledge.

use actix_web::{HttpResponse, http::StatusCode};
use kernel::Ability;

use crate::{app::App, extract::Call, web::html};

const FOREIGN: &str =
    "<p role=\"alert\">This form was sent from a page of another site. Nothing was done.</p>";

/// What a browser says of the page that sent a form.
struct Source<'a> {
    site: Option<&'a str>,
    origin: Option<&'a str>,
    /// The name under which this server was asked.
    host: Option<&'a str>,
}

/// The page for a form that another site sent; `None` for one that this server may answer. Programs that are no browsers
/// say nothing of a page.
pub(super) fn refusal<A: Ability, P>(
    app: &App,
    call: &Call<A, P>,
    title: &str,
) -> Option<HttpResponse> {
    let source = Source {
        site: call.header("Sec-Fetch-Site"),
        origin: call.header("Origin"),
        host: call.header("Host"),
    };
    let is_foreign = !source.is_own(app.urls.origin());
    is_foreign.then(|| html::page(StatusCode::FORBIDDEN, title, FOREIGN))
}

impl Source<'_> {
    /// Whether the page is one of the server with that external origin.
    fn is_own(&self, external: &str) -> bool {
        let is_site = |site: &str| matches!(site, "same-origin" | "none");
        let is_origin = |given: &str| plain(given) == plain(external) || self.is_host(given);
        self.site.is_none_or(is_site) && self.origin.is_none_or(is_origin)
    }

    /// Whether an origin is this server by the name under which it was asked.
    fn is_host(&self, origin: &str) -> bool {
        let is_so = |scheme, host| plain(origin) == plain(&format!("{scheme}://{host}"));
        self.host.is_some_and(|host| is_so("http", host) || is_so("https", host))
    }
}

/// An origin in small letters, without the port that its scheme has anyway.
fn plain(origin: &str) -> String {
    let origin = origin.to_ascii_lowercase();
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(port).unwrap_or(&origin).to_owned()
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn a_form_is_of_the_own_site_by_any_of_its_names() {
        let is_own = |site, origin| {
            let source = Source { site, origin, host: Some("10.0.0.7:8080") };
            source.is_own("https://Forge.example:443")
        };
        for origin in ["https://forge.example", "http://10.0.0.7:8080", "https://10.0.0.7:8080"] {
            assert!(is_own(None, Some(origin)) && is_own(Some("same-origin"), Some(origin)));
            assert!(!is_own(Some("cross-site"), Some(origin)), "{origin}");
        }
        assert!(is_own(None, None) && is_own(Some("none"), None));
        assert!(!is_own(Some("same-site"), None));
        for origin in
            ["null", "", "http://forge.example", "http://10.0.0.7", "https://a.forge.example"]
        {
            assert!(!is_own(None, Some(origin)), "{origin}");
        }
    }
}
