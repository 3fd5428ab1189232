//! Values that many types have: moments, addresses, rendered texts.

use forge::{memory, urls::Urls};
use graphql::{Arguments, Failure, Value};
use kernel::{Ts, ids::ProjectId};
use markup::{Format, Links};
use tokio::task::spawn_blocking;

use super::failure::failure_of;
use crate::app::App;

/// A moment, to the second.
pub fn time(at: Ts) -> Value {
    Value::time(at.datetime())
}

/// A moment, where there is one.
pub fn maybe_time(at: Option<Ts>) -> Value {
    at.map_or(Value::Null, time)
}

/// The part of an address of ours behind the host, with the slash.
pub fn path_of(urls: &Urls, address: &str) -> String {
    let path = address.strip_prefix(urls.origin()).unwrap_or(address);
    if path.is_empty() { "/".to_owned() } else { path.to_owned() }
}

/// Longer texts are rendered on a thread of their own.
const RENDERED_AT_ONCE: usize = 8 << 10;

/// Markdown as HTML. The text can show files that were added to its project.
///
/// # Errors
/// When too many texts are being rendered.
pub async fn markdown(
    app: &App,
    text: Option<&str>,
    project: Option<ProjectId>,
) -> Result<Value, Failure> {
    let Some(text) = text else { return Ok(Value::Null) };
    let uploads = project.map(|id| app.urls.at(&format!("-/project/{id}/uploads")));
    let render = |text: &str, uploads: Option<String>| {
        let links = uploads.as_deref().map_or_else(Links::none, Links::of_project);
        markup::render(text, Format::Markdown, &links)
    };
    if text.len() <= RENDERED_AT_ONCE {
        return Ok(render(text, uploads).into());
    }
    memory::ensure_some().map_err(failure_of)?;
    let _slot = app.renderings.take_soon().await.map_err(failure_of)?;
    let text = text.to_owned();
    let html = spawn_blocking(move || render(&text, uploads)).await.map_err(Failure::internal)?;
    Ok(html.into())
}

/// So many values a list in an argument may have.
const LIST_LIMIT: usize = 1_000;

/// The global ids in a list that may be left out.
///
/// # Errors
/// For ids of other classes, and too many of them.
pub fn ids(
    arguments: &Arguments,
    name: &str,
    classes: &[&str],
) -> Result<Option<Vec<i64>>, Failure> {
    match texts(arguments, name)? {
        Some(_) => arguments.gids(name, classes).map(Some),
        None => Ok(None),
    }
}

/// The texts in a list that may be left out.
///
/// # Errors
/// For too many of them.
pub fn texts(arguments: &Arguments, name: &str) -> Result<Option<Vec<String>>, Failure> {
    match arguments.maybe_texts(name) {
        Some(texts) if texts.len() > LIST_LIMIT => {
            Err(Failure::Message(format!("`{name}` takes at most {LIST_LIMIT} values")))
        }
        texts => Ok(texts),
    }
}
