//! Markdown as HTML.

use kernel::{Error, Result, ids::ProjectId, task::spawn_blocking};
use markup::{Format, Links};

use crate::{forge::Forge, memory, slots::Slots};

/// Texts of at most so many bytes are rendered on the calling thread.
const INLINE_LIMIT: usize = 8 << 10;

/// Renders a text, which may show files that were added to its project.
///
/// # Errors
/// When too many long texts are being rendered.
pub async fn render(forge: &Forge, text: &str, project: Option<ProjectId>) -> Result<String> {
    if text.len() <= INLINE_LIMIT {
        let uploads = project.map(|id| uploads_of(forge, id));
        return Ok(html(text, uploads.as_deref()));
    }
    render_long(forge, text.to_owned(), project).await
}

/// Renders a text of any length on a thread of its own: a long one takes a moment, and many times its size.
///
/// # Errors
/// When too many texts are being rendered.
pub async fn render_long(
    forge: &Forge,
    text: String,
    project: Option<ProjectId>,
) -> Result<String> {
    let uploads = project.map(|id| uploads_of(forge, id));
    memory::ensure_some()?;
    let _slot = forge.renderings.take_soon().await?;
    spawn_blocking(move || html(&text, uploads.as_deref())).await.map_err(Error::internal)
}

fn html(text: &str, uploads: Option<&str>) -> String {
    let links = uploads.map_or_else(Links::none, Links::of_project);
    markup::render(text, Format::Markdown, &links)
}

/// The address of the files that were added to a project.
fn uploads_of(forge: &Forge, project: ProjectId) -> String {
    forge.urls.at(&format!("-/project/{project}/uploads"))
}

/// As many renderings at once as this machine bears: each is bound to a core while it runs.
pub(crate) fn slots() -> Slots {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Slots::new(memory::at_once(memory::at_once(cores * 2, 16), 32))
}
