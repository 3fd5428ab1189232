//! Values that many types have: moments, addresses, rendered texts.

use forge::{Forge, urls::Urls};
use graphql::{Arguments, Failure, Value};
use kernel::{Ts, ids::ProjectId};

use super::failure::failure_of;

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

/// Markdown as HTML. The text can show files that were added to its project.
///
/// # Errors
/// When too many texts are being rendered.
pub async fn markdown(
    forge: &Forge,
    text: Option<&str>,
    project: Option<ProjectId>,
) -> Result<Value, Failure> {
    let Some(text) = text else { return Ok(Value::Null) };
    Ok(forge::markdown::render(forge, text, project).await.map_err(failure_of)?.into())
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
