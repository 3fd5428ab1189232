//! Slash commands of chat rooms: whoever knows the integration's token is heard.

use admin::{
    integration::{Kind, actions},
    owner::Owner,
};
use entities::admin::integration::ReplyEntity;
use kernel::{
    Error,
    access::Anyone,
    ids::{NamespaceId, ProjectId},
};
use org::project::store::ProjectStore as _;

use super::groups_above;
use crate::{app::App, error::ApiResult, extract::Call, params, present::Json, routes};

routes! { "Slash commands" at "";
    POST "/projects/{id}/integrations/slack_slash_commands/trigger"      => slack      : Anyone,
    POST "/projects/{id}/integrations/mattermost_slash_commands/trigger" => mattermost : Anyone,
    POST "/projects/{id}/services/slack_slash_commands/trigger"          => slack      : Anyone,
    POST "/projects/{id}/services/mattermost_slash_commands/trigger"     => mattermost : Anyone,
    POST "/projects/{id}/integrations/slack-slash-commands/trigger"      => slack      : Anyone,
    POST "/projects/{id}/integrations/mattermost-slash-commands/trigger" => mattermost : Anyone,
    POST "/projects/{id}/services/slack-slash-commands/trigger"          => slack      : Anyone,
    POST "/projects/{id}/services/mattermost-slash-commands/trigger"     => mattermost : Anyone,
}

params! {
    pub struct SlashCommand {
        /// ID or path of the project.
        id: String,
        /// Token of the integration.
        token: String,
        /// Text after the slash command.
        text: Option<String>,
    }
}

async fn slack(app: App, call: Call<Anyone, SlashCommand>) -> ApiResult<Json<ReplyEntity>> {
    reply(app, call, "slack-slash-commands").await
}

async fn mattermost(app: App, call: Call<Anyone, SlashCommand>) -> ApiResult<Json<ReplyEntity>> {
    reply(app, call, "mattermost-slash-commands").await
}

async fn reply(
    app: App,
    call: Call<Anyone, SlashCommand>,
    slug: &'static str,
) -> ApiResult<Json<ReplyEntity>> {
    let (vault, actor, command) = (app.vault.clone(), call.grant.actor(), call.params);
    let missing = || Error::not_found("Integration");
    let text = command.text.unwrap_or_default();
    let found = app.db.read(move |tx| {
        let kind = Kind::find(slug).ok_or_else(missing)?;
        let found = match command.id.parse() {
            Ok(id) => tx.find_scope(actor, ProjectId(id))?,
            Err(_) => tx.find_scope_at(actor, &command.id)?,
        };
        let project = found.map(|(project, _)| project);
        // What is not there takes the same statements as what is there.
        let home = Owner::Project(project.as_ref().map_or(ProjectId(0), |project| project.id));
        let mut groups = groups_above(tx, home)?;
        if groups.is_empty() {
            groups.push(NamespaceId(0));
        }
        actions::find_by_token(tx, &vault, (home, groups.as_slice()), kind, &command.token)?;
        project.ok_or_else(missing)
    });
    let project = found.await?;
    let page = app.urls.at(&project.full_path);
    let text = match text.trim() {
        "" | "help" => format!("Commands of {} are not known yet. See {page}.", project.full_path),
        other => format!("The command `{}` is not known. See {page}.", other.replace('`', "'")),
    };
    Ok(Json(ReplyEntity { response_type: "ephemeral", text }))
}
