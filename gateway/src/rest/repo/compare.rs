//! Two commits side by side.

use std::sync::Arc;

use actix_web::HttpResponse;
use entities::repo::{commit::CommitEntity, tree::ComparisonEntity};
use forge::commit::compare::commit_of_fork;
use kernel::{Error, Result, ids::ProjectId};
use repo::{
    compare::{self, Comparison, Start},
    git::Reader,
    policy::ReadCode,
};

use super::compared_commits::{AT_ONCE, Source};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Custom, Either, Json, head_alone},
    routes,
};

routes! { "Comparisons" at "/projects/{id}/repository/compare";
    GET "" => show : ReadCode,
}

params! {
    pub struct Compare {
        /// Branch, tag or commit SHA.
        from: String,
        to: String,
        /// ID of the project that contains `from`.
        from_project_id: Option<ProjectId>,
        /// true compares with `from` itself (`from..to`), false with the merge base (`from...to`).
        straight: bool = false,
    }
}

type CompareAnswer = Either<Json<ComparisonEntity>, Custom>;

async fn show(app: App, call: Call<ReadCode, Compare>) -> ApiResult<CompareAnswer> {
    let is_head = call.is_method("HEAD");
    let (grant, params) = (call.grant, call.params);
    let other = params.from_project_id.filter(|id| *id != grant.project());
    let start = if params.straight { Start::Straight } else { Start::MergeBase };
    let answers = app.answers.clone();
    let url = app.urls.at(&grant.facts().full_path);
    let mut source =
        Source { app: app.clone(), project: grant.project(), elsewhere: None, url: url.clone() };
    let (found, commits) = match other {
        None => {
            let url = url.clone();
            let read = source.read(move |reader| {
                let from = compare::side(reader, &params.from)?;
                let to = compare::side(reader, &params.to)?;
                beginning(reader, answers.comparison(reader, from, to, start)?, &url)
            });
            read.await?
        }
        Some(other) => {
            let (from, theirs) = commit_of_fork(&app, &grant, other, params.from).await?;
            let to = source.read(move |reader| compare::side(reader, &params.to)).await?;
            source.elsewhere = Some(theirs.as_path().join("objects"));
            let url = url.clone();
            let read = source.read(move |reader| {
                beginning(reader, answers.comparison(reader, from, to, start)?, &url)
            });
            read.await?
        }
    };
    let last = commits.last().cloned();
    if found.commits.len() <= AT_ONCE {
        return Ok(Either::Left(Json(ComparisonEntity::new(&found, last, commits, &url))));
    }
    let mut response = HttpResponse::Ok();
    response.content_type("application/json");
    if is_head {
        return Ok(Either::Right(Custom(head_alone(response))));
    }
    let record = ComparisonEntity::new(&found, last, Vec::new(), &url);
    let around = record.around_commits().map_err(Error::internal)?;
    let pieces = source.streamed(Arc::clone(&found.commits), around);
    Ok(Either::Right(Custom(response.streaming(pieces))))
}

/// A comparison with the records of its commits, or of the last one where there are many.
fn beginning(
    reader: &Reader,
    found: Arc<Comparison>,
    url: &str,
) -> Result<(Arc<Comparison>, Vec<CommitEntity>)> {
    let skipped = match found.commits.len() {
        few if few <= AT_ONCE => 0,
        many => many - 1,
    };
    let commits = reader.commits(&found.commits[skipped..])?;
    Ok((found, commits.iter().map(|commit| CommitEntity::new(commit, url)).collect()))
}
