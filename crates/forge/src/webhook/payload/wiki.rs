//! Pages of wikis.

use org::user::User;
use repo::{event::WikiAction, wiki::PageName};
use serde_json::{Value, json};

use super::common::{ProjectContext, user_json};

/// A page; its text and the message of its version are added when they were read.
pub(crate) fn page(
    context: &ProjectContext,
    user: Option<&User>,
    page: &PageName,
    (action, version): (WikiAction, &str),
) -> Value {
    let action = match action {
        WikiAction::Create => "create",
        WikiAction::Update | WikiAction::Attach => "update",
        WikiAction::Delete => "delete",
    };
    let url = context.at(&format!("wikis/{}", page.slug));
    json!({
        "object_kind": "wiki_page",
        "user": user.map(|user| user_json(context.urls(), user)),
        "project": context.project_json(),
        "wiki": context.wiki(),
        "object_attributes": {
            "title": page.title(),
            "content": null,
            "format": page.markup.as_str(),
            "message": null,
            "slug": page.slug,
            "version_id": version,
            "url": url,
            "diff_url": format!("{url}/diff?version_id={version}"),
            "action": action,
        },
    })
}
