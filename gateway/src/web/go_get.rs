//! What `go get` reads to learn where a module's repository is: `?go-get=1` at any address in a project.

use actix_web::{HttpRequest, HttpResponse};
use forge::project::create::USUAL_BRANCH;
use kernel::{Actor, Result};
use org::access::{IdOrPath, locate_project};
use percent_encoding::percent_decode_str;

use super::html::escaped;
use crate::{app::App, git_http};

/// Groups in groups, and the project.
const DEEPEST: usize = 22;

/// A project as modules name it.
struct Module {
    /// As it was asked for; Go wants to see that again.
    prefix: String,
    full_path: String,
    branch: String,
}

/// Answers `?go-get=1`; nothing for other requests, and for addresses that are too short for a project.
pub(super) async fn answer(app: &App, req: &HttpRequest) -> Option<HttpResponse> {
    if !req.query_string().split('&').any(|pair| pair == "go-get=1") {
        return None;
    }
    let path = percent_decode_str(req.uri().path()).decode_utf8_lossy().into_owned();
    let path = path.split("/-/").next().unwrap_or_default().to_owned();
    let parts: Vec<String> =
        path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    // What a module's name would be if there were a project: hidden ones and those that are not there read the same.
    let simple = parts.get(..2)?.join("/");
    let actor = match git_http::reader(app, req).await {
        Ok(actor) => actor,
        Err(refusal) => return Some(refusal.response()),
    };
    match app.db.peek(move |tx| find(tx, actor, &parts)).await {
        Ok(found) => {
            let branch = USUAL_BRANCH.to_owned();
            let unseen = || Module { prefix: simple.clone(), full_path: simple.clone(), branch };
            Some(page(app, &found.unwrap_or_else(unseen)))
        }
        Err(failure) => Some(git_http::Refusal::from(failure).response()),
    }
}

/// The project that the caller sees at the beginning of a path.
fn find(tx: &mut db::Tx<'_>, actor: Actor, parts: &[String]) -> Result<Option<Module>> {
    for end in 2..=parts.len().min(DEEPEST) {
        let Some(prefix) = parts.get(..end).map(|parts| parts.join("/")) else { break };
        match locate_project(tx, actor, &IdOrPath::Path(prefix.clone())) {
            Ok((project, _)) => {
                let facts = project.0;
                let branch = facts.default_branch.clone();
                return Ok(Some(Module {
                    prefix,
                    full_path: facts.full_path.clone(),
                    branch: branch.unwrap_or_else(|| USUAL_BRANCH.to_owned()),
                }));
            }
            Err(gone) if gone.is_gone() => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(None)
}

fn page(app: &App, module: &Module) -> HttpResponse {
    let base = app.urls.base();
    let import = base.split_once("://").map_or(base, |(_, rest)| rest);
    let import = escaped(&format!("{import}/{}", module.prefix));
    let (url, branch) = (escaped(&app.urls.at(&module.full_path)), escaped(&module.branch));
    let text = format!(
        "<html><head><meta name=\"go-import\" content=\"{import} git {url}.git\"><meta name=\"go-source\" \
         content=\"{import} {url} {url}/-/tree/{branch}{{/dir}} {url}/-/blob/{branch}{{/dir}}/{{file}}#L{{line}}\">\
         </head><body>go get {import}</body></html>"
    );
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header(("Content-Security-Policy", "default-src 'none'"))
        .body(text)
}
