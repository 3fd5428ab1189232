//! Linting of CI configurations.

use ci::policy::CreatePipelines;
use entities::ci::ci_lint::{LintEntity, TextLintEntity};
use forge::pipeline::lint::{self, LintRequest, Text};
use kernel::{
    Ability, Grant,
    access::{Project, SignedIn},
};
use repo::policy::ReadCode;

use crate::{
    app::App,
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
        /// Whether to return the configuration with all includes merged.
        include_merged_yaml: bool = false,
        include_jobs: bool = false,
    }
}

async fn judge_text(app: App, call: Call<SignedIn, LintText>) -> ApiResult<Json<TextLintEntity>> {
    let (actor, params) = (call.grant.actor(), call.params);
    let (with_yaml, with_jobs) = (params.include_merged_yaml, params.include_jobs);
    let lint = lint::lint_text(&app, actor, params.content.0).await?;
    Ok(Json(TextLintEntity::new(lint, &app.urls, with_yaml, with_jobs)))
}

params! {
    pub struct LintProject {
        /// Simulates pipeline creation for the ref: evaluates rules and reports what would prevent a pipeline.
        dry_run: bool = false,
        /// Branch or tag for the dry run. Default: the default branch.
        r#ref: Option<String>,
        /// Commit whose configuration is checked. Default: the head of the default branch.
        sha: Option<String>,
        include_jobs: bool = false,
    }
}

async fn judge_committed(
    app: App,
    call: Call<ReadCode, LintProject>,
) -> ApiResult<Json<LintEntity>> {
    let (grant, params) = (call.grant, call.params);
    let text = Text::Committed(params.sha.filter(|sha| !sha.is_empty()));
    let question = question(&app, &grant, text, params.dry_run, params.r#ref);
    let lint = question.answer().await?;
    Ok(Json(LintEntity::new(lint, &app.urls, params.include_jobs)))
}

params! {
    pub struct LintContent {
        content: RawText,
        /// Simulates pipeline creation for the ref: evaluates rules and reports what would prevent a pipeline.
        dry_run: bool = false,
        /// Branch or tag for the dry run. Default: the default branch.
        r#ref: Option<String>,
        include_jobs: bool = false,
    }
}

async fn judge(app: App, call: Call<CreatePipelines, LintContent>) -> ApiResult<Json<LintEntity>> {
    let (grant, params) = (call.grant, call.params);
    let text = Text::Given(params.content.0);
    let question = question(&app, &grant, text, params.dry_run, params.r#ref);
    let lint = question.answer().await?;
    Ok(Json(LintEntity::new(lint, &app.urls, params.include_jobs)))
}

fn question<A: Ability<Scope = Project>>(
    app: &App,
    grant: &Grant<A>,
    text: Text,
    dry_run: bool,
    ref_name: Option<String>,
) -> LintRequest {
    let (project, who) = (grant.facts().clone(), *grant.who());
    LintRequest { forge: app.forge.clone(), project, who, text, dry_run, ref_name }
}
