//! What a CI configuration would come to, without running it.

use ci::{config::Lint, policy::CreatePipelines};
use kernel::{
    Ability, Error, Grant, Result,
    access::{Project, SignedIn},
};
use repo::policy::ReadCode;
use tokio::task::spawn_blocking;

use crate::{
    app::App,
    compose::ci_config::{self, Question, Text},
    entities::ci_lint::{LintEntity, TextLintEntity},
    error::ApiResult,
    extract::{Call, RawText},
    params,
    present::Json,
    routes,
};

routes! { "CI lint" at "";
    POST "/ci/lint"               => judge_text      : SignedIn,
    GET  "/projects/{id}/ci/lint" => judge_committed : ReadCode,
    POST "/projects/{id}/ci/lint" => judge           : CreatePipelines,
}

params! {
    pub struct LintText {
        content: RawText,
        /// Show everything that it includes in one document.
        include_merged_yaml: bool = false,
        include_jobs: bool = false,
    }
}

async fn judge_text(app: App, call: Call<SignedIn, LintText>) -> ApiResult<Json<TextLintEntity>> {
    let (actor, params) = (call.grant.actor(), call.params);
    let (with_yaml, with_jobs) = (params.include_merged_yaml, params.include_jobs);
    let urls = app.urls.clone();
    let lint = spawn_blocking(move || ci_config::alone(&app, actor, &params.content.0)).await;
    let lint = lint.map_err(Error::internal)??;
    Ok(Json(TextLintEntity::new(lint, &urls, with_yaml, with_jobs)))
}

params! {
    pub struct LintCommitted {
        /// Play a push to the ref through: rules are asked, and what stands in the way of a pipeline is told.
        dry_run: bool = false,
        /// A branch or tag for the dry run; the default branch when left out.
        r#ref: Option<String>,
        /// The commit whose configuration it is; the newest of the default branch when left out.
        sha: Option<String>,
        include_jobs: bool = false,
    }
}

async fn judge_committed(
    app: App,
    call: Call<ReadCode, LintCommitted>,
) -> ApiResult<Json<LintEntity>> {
    let (grant, params) = (call.grant, call.params);
    let text = Text::Committed(params.sha.filter(|sha| !sha.is_empty()));
    let question = question(&app, &grant, text, params.dry_run, params.r#ref);
    let lint = answer(&app, question).await?;
    Ok(Json(LintEntity::new(lint, &app.urls, params.include_jobs)))
}

params! {
    pub struct LintContent {
        content: RawText,
        /// Play a push to the ref through: rules are asked, and what stands in the way of a pipeline is told.
        dry_run: bool = false,
        /// A branch or tag for the dry run; the default branch when left out.
        r#ref: Option<String>,
        include_jobs: bool = false,
    }
}

async fn judge(app: App, call: Call<CreatePipelines, LintContent>) -> ApiResult<Json<LintEntity>> {
    let (grant, params) = (call.grant, call.params);
    let text = Text::Given(params.content.0);
    let question = question(&app, &grant, text, params.dry_run, params.r#ref);
    let lint = answer(&app, question).await?;
    Ok(Json(LintEntity::new(lint, &app.urls, params.include_jobs)))
}

fn question<A: Ability<Scope = Project>>(
    app: &App,
    grant: &Grant<A>,
    text: Text,
    dry_run: bool,
    ref_name: Option<String>,
) -> Question {
    let (project, who) = (grant.facts().clone(), *grant.who());
    Question { app: app.clone(), project, who, text, dry_run, ref_name }
}

/// A project whose repository is not there yet has no files.
async fn answer(app: &App, question: Question) -> Result<Lint> {
    let question = std::sync::Arc::new(question);
    let asked = std::sync::Arc::clone(&question);
    let read = app.git_read(question.project.id, move |reader| asked.answer(Some(reader))).await;
    match read {
        Err(Error::NotFound("Repository")) => {
            let done = spawn_blocking(move || question.answer(None));
            done.await.map_err(Error::internal)?
        }
        read => read,
    }
}
