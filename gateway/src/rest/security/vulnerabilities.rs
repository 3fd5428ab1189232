//! Vulnerabilities that scanners found, and what people think of them.

use db::Tx;
use entities::security::vulnerability::{VulnerabilityEntity, VulnerableProjectEntity};
use forge::ports::security::Directory;
use kernel::{Error, Result, ids::VulnerabilityId, page::Page};
use org::project::store::ProjectStore as _;
use security::{
    policy::{ReadVulnerabilities, UseVulnerabilities},
    vulnerability::{
        DismissalReason, ReportType, Severity, State, Step, Vulnerability, VulnerabilityFilter,
        actions::{self, Judgement},
    },
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv},
    param_enums, params,
    present::{Created, Json, PagedList},
    routes,
};

routes! { "Vulnerabilities" at "/projects/{id}/vulnerabilities";
    GET "" => list : ReadVulnerabilities,
}

/// Calls on single vulnerabilities.
pub(crate) mod single {
    use super::{UseVulnerabilities, confirm, dismiss, resolve, revert, show};

    crate::routes! { "Vulnerabilities" at "/vulnerabilities/{vulnerability_id}";
        GET  ""         => show    : UseVulnerabilities,
        POST "/confirm" => confirm : UseVulnerabilities,
        POST "/dismiss" => dismiss : UseVulnerabilities,
        POST "/resolve" => resolve : UseVulnerabilities,
        POST "/revert"  => revert  : UseVulnerabilities,
    }
}

param_enums! { State, Severity, ReportType, DismissalReason }

params! {
    pub struct ListVulnerabilities: paged {
        /// Only items in one of these states.
        state: Option<Csv<State>>,
        severity: Option<Csv<Severity>>,
        report_type: Option<Csv<ReportType>>,
        /// Only vulnerabilities that the latest report of the default branch contains (`false`) or no longer contains
        /// (`true`).
        resolved_on_default_branch: Option<bool>,
    }
}

fn values<T>(given: Option<Csv<T>>) -> Vec<T> {
    given.map(|csv| csv.0).unwrap_or_default()
}

async fn list(
    app: App,
    call: Call<ReadVulnerabilities, ListVulnerabilities>,
) -> ApiResult<PagedList<VulnerabilityEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let filter = VulnerabilityFilter {
        states: values(params.state),
        severities: values(params.severity),
        report_types: values(params.report_type),
        resolved_on_default_branch: params.resolved_on_default_branch,
        ..VulnerabilityFilter::default()
    };
    let listed = app.db.read(move |tx| {
        let project = VulnerableProjectEntity::from(&**grant.facts());
        let Page { items, total } = actions::list(tx, &grant, &filter, page)?;
        Ok(Page { items: VulnerabilityEntity::load(tx, &project, items)?, total })
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct OneVulnerability {
        vulnerability_id: VulnerabilityId,
    }
}

fn vulnerability_entity(tx: &mut Tx<'_>, row: Vulnerability) -> Result<VulnerabilityEntity> {
    let project = tx.find_project(row.project_id)?.ok_or_else(Error::missing)?.into();
    VulnerabilityEntity::load(tx, &project, vec![row])?.pop().ok_or_else(Error::missing)
}

async fn show(
    app: App,
    call: Call<UseVulnerabilities, OneVulnerability>,
) -> ApiResult<Json<VulnerabilityEntity>> {
    let (grant, id) = (call.grant, call.params.vulnerability_id);
    let read = app.db.read(move |tx| {
        let row = actions::read(tx, &grant, &Directory, id)?;
        vulnerability_entity(tx, row)
    });
    Ok(Json(read.await?))
}

params! {
    pub struct JudgeVulnerability {
        vulnerability_id: VulnerabilityId,
        /// Comment that explains the change.
        comment: Option<String>,
    }
}

params! {
    pub struct Dismiss {
        vulnerability_id: VulnerabilityId,
        /// Comment that explains the change.
        comment: Option<String>,
        dismissal_reason: Option<DismissalReason>,
    }
}

async fn judged<P>(
    app: App,
    call: Call<UseVulnerabilities, P>,
    id: VulnerabilityId,
    judgement: Judgement,
) -> ApiResult<Created<VulnerabilityEntity>> {
    let grant = call.grant;
    let done = app.db.write(move |tx| {
        let row = actions::judge(tx, &grant, &Directory, id, &judgement)?;
        vulnerability_entity(tx, row)
    });
    Ok(Created(done.await?))
}

type JudgeCall = Call<UseVulnerabilities, JudgeVulnerability>;

async fn plain(app: App, call: JudgeCall, step: Step) -> ApiResult<Created<VulnerabilityEntity>> {
    let JudgeVulnerability { vulnerability_id: id, comment } = call.params.clone();
    let comment = comment.unwrap_or_default();
    judged(app, call, id, Judgement { step, reason: None, comment }).await
}

async fn confirm(app: App, call: JudgeCall) -> ApiResult<Created<VulnerabilityEntity>> {
    plain(app, call, Step::Confirm).await
}

async fn resolve(app: App, call: JudgeCall) -> ApiResult<Created<VulnerabilityEntity>> {
    plain(app, call, Step::Resolve).await
}

async fn revert(app: App, call: JudgeCall) -> ApiResult<Created<VulnerabilityEntity>> {
    plain(app, call, Step::Revert).await
}

async fn dismiss(
    app: App,
    call: Call<UseVulnerabilities, Dismiss>,
) -> ApiResult<Created<VulnerabilityEntity>> {
    let Dismiss { vulnerability_id: id, comment, dismissal_reason: reason } = call.params.clone();
    let comment = comment.unwrap_or_default();
    judged(app, call, id, Judgement { step: Step::Dismiss, reason, comment }).await
}
