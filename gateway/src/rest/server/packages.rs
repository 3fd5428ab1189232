//! Packages. None are kept here: who asks for one is sent to the public registry of its kind, unless the settings say
//! otherwise.

use actix_web::{HttpResponse, http::header};
use kernel::{Ability, Error, access::Anyone};
use org::{
    policy::{ReadGroup, ReadProject},
    settings::Settings,
};

use crate::{app::App, error::ApiResult, extract::Call, params, present::Custom, routes};

routes! { "Packages" at "";
    GET "/packages/maven/{*path}"                             => maven : Anyone,
    GET "/packages/npm/{*package_name}"                       => npm   : Anyone,
    GET "/groups/{id}/-/packages/maven/{*path}"               => maven : ReadGroup,
    GET "/groups/{id}/-/packages/npm/{*package_name}"         => npm   : ReadGroup,
    GET "/groups/{id}/-/packages/pypi/simple/{*package_name}" => pypi  : ReadGroup,
    GET "/projects/{id}/packages/maven/{*path}"               => maven : ReadProject also JobToken,
    GET "/projects/{id}/packages/npm/{*package_name}"         => npm   : ReadProject also JobToken,
    GET "/projects/{id}/packages/pypi/simple/{*package_name}" => pypi  : ReadProject also JobToken,
}

params! {
    pub struct OnePath {
        /// Path of a file in a Maven repository, such as `org/example/app/1.0/app-1.0.jar`.
        path: String,
    }
}

params! {
    pub struct OnePackage {
        /// Name of the package.
        package_name: String,
    }
}

async fn maven<A: Ability>(app: App, call: Call<A, OnePath>) -> ApiResult<Custom> {
    let path = parts(&call.params.path).map(|parts| parts.join("/"));
    forward(&app, Settings::maven_package_requests_forwarding, path, |path| {
        format!("https://repo.maven.apache.org/maven2/{path}")
    })
}

async fn npm<A: Ability>(app: App, call: Call<A, OnePackage>) -> ApiResult<Custom> {
    // The slash of a scoped name is encoded there.
    let name = parts(&call.params.package_name).map(|parts| parts.join("%2F"));
    forward(&app, Settings::npm_package_requests_forwarding, name, |name| {
        format!("https://registry.npmjs.org/{name}")
    })
}

async fn pypi<A: Ability>(app: App, call: Call<A, OnePackage>) -> ApiResult<Custom> {
    let name = parts(&call.params.package_name).filter(|parts| parts.len() == 1);
    let name = name.map(|parts| parts.concat());
    forward(&app, Settings::pypi_package_requests_forwarding, name, |name| {
        format!("https://pypi.org/simple/{name}/")
    })
}

/// The parts of a path; nothing where it is none that a registry has.
fn parts(path: &str) -> Option<Vec<&str>> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~@+".contains(&byte);
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && part.bytes().all(is_known);
    let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    parts.iter().all(|part| is_part(part)).then_some(parts)
}

fn forward(
    app: &App,
    is_on: fn(&Settings) -> bool,
    name: Option<String>,
    address: impl FnOnce(&str) -> String,
) -> ApiResult<Custom> {
    let name =
        name.filter(|_| is_on(&app.settings())).ok_or_else(|| Error::not_found("Package"))?;
    let mut response = HttpResponse::Found();
    Ok(Custom(response.insert_header((header::LOCATION, address(&name))).finish()))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_name_leads_nowhere_else() {
        assert_eq!(parts("@angular/core/"), Some(vec!["@angular", "core"]));
        for odd in ["a/../b", "//evil.example", "b?x#y", "%", "%2e%2e", "a b", ""] {
            assert_eq!(parts(odd), None, "{odd}");
        }
    }
}
