//! Two commits side by side.

use kernel::{Ability as _, Error, Grant, Result, ids::ProjectId};
use org::{
    access::{IdOrPath, locate_project},
    project::store::ProjectStore,
};
use repo::{
    compare::{self, Start},
    git::{Oid, RepoPath, reader::Joined},
    policy::ReadCode,
};

use crate::{
    app::App, entities::tree::ComparisonEntity, error::ApiResult, extract::Call, params,
    present::Json, routes,
};

routes! { "Comparisons" at "/projects/{id}/repository/compare";
    GET "" => show : ReadCode,
}

params! {
    pub struct Compare {
        /// A branch, tag or commit.
        from: String,
        to: String,
        /// The project in which `from` is looked up.
        from_project_id: Option<ProjectId>,
        /// Compare with `from` itself rather than with the merge base.
        straight: bool = false,
    }
}

async fn show(app: App, call: Call<ReadCode, Compare>) -> ApiResult<Json<ComparisonEntity>> {
    let (grant, params) = (call.grant, call.params);
    let source = params.from_project_id.filter(|id| *id != grant.project());
    let elsewhere = match source {
        Some(source) => Some(located(&app, &grant, source, params.from.clone()).await?),
        None => None,
    };
    let url = app.urls.at(&grant.facts().full_path);
    let start = if params.straight { Start::Straight } else { Start::MergeBase };
    let answers = app.answers.clone();
    let read = app.git_read(grant.project(), move |reader| {
        let Some((from, theirs)) = elsewhere else {
            let from = compare::side(reader, &params.from)?;
            let to = compare::side(reader, &params.to)?;
            return answers.comparison(reader, from, to, start);
        };
        let to = compare::side(reader, &params.to)?;
        // Both are read as one; nothing moves from one to the other.
        let both = Joined::new(reader.path(), &[&theirs.as_path().join("objects")])?;
        answers.comparison(both.reader(), from, to, start)
    });
    let found = read.await?;
    Ok(Json(ComparisonEntity::new(&found, &url)))
}

/// A commit of another project of the fork network, and where that lies.
async fn located(
    app: &App,
    grant: &Grant<ReadCode>,
    source: ProjectId,
    name: String,
) -> Result<(Oid, RepoPath)> {
    let (actor, own) = (grant.actor(), grant.project());
    let unrelated = move || {
        Error::Rejected(format!("Target project id:{source} is not a fork of project id:{own}"))
    };
    let allowed = app.db.read(move |tx| {
        let found = locate_project(tx, actor, &IdOrPath::Id(source.0));
        let (_, who) = found.map_err(|cause| match cause {
            Error::NotFound(_) => unrelated(),
            failure => failure,
        })?;
        let (source, own) = (tx.project(source)?, tx.project(own)?);
        let root = |project: &org::project::Project| project.fork_root_id.unwrap_or(project.id);
        if root(&source) != root(&own) {
            return Err(unrelated());
        }
        if ReadCode::allows(&who) {
            return Ok(());
        }
        Err(Error::Refused("You don't have access to this fork's parent project".to_owned()))
    });
    allowed.await?;
    let id = app.git_read(source, move |reader| compare::side(reader, &name)).await?;
    Ok((id, app.storage.repository(source)))
}
