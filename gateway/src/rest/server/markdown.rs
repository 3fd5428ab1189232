//! Rendering of Markdown.

use forge::{
    asset_proxy::with_proxy,
    markdown,
    references::{self, TextContext},
};
use kernel::access::SignedIn;
use org::access::{IdOrPath, locate_project};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, RawText},
    params,
    present::Created,
    routes,
};

routes! { "Markdown" at "/markdown";
    POST "" => render : SignedIn,
}

params! {
    pub struct RenderText {
        text: RawText,
        /// Whether to turn references into links: `#1`, `!1`, `@name`, `~label`, `%milestone` and files of the project.
        gfm: bool = false,
        /// Full path of the project in whose context the text is rendered.
        project: Option<String>,
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RenderedEntity {
    html: String,
}

async fn render(app: App, call: Call<SignedIn, RenderText>) -> ApiResult<Created<RenderedEntity>> {
    let (actor, RenderText { text, gfm, project }) = (call.grant.actor(), call.params);
    let place = match project.filter(|path| !path.is_empty()) {
        None => None,
        Some(path) => {
            let path = IdOrPath::Path(path);
            let (project, _) = app.db.peek(move |tx| locate_project(tx, actor, &path)).await?;
            Some(project.0)
        }
    };
    let uploads = place.as_ref().filter(|_| gfm).map(|project| project.id);
    let mut html = markdown::render_long(&app, text.0, uploads).await?;
    if gfm {
        let place = place.map(|project| TextContext::project(project.id, &project.full_path));
        html = references::linked(&app, actor, place, html).await?;
    }
    Ok(Created(RenderedEntity { html: with_proxy(&app, html) }))
}
