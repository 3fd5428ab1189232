//! Alerts that monitors sent. Clients of the vendor's product ask GraphQL for them.

use entities::security::{alert::AlertEntity, alert_note::AlertNoteEntity};
use forge::alert::Incidents;
use kernel::page::Page;
use security::{
    alert::{AlertFilter, AlertSeverity, AlertStatus, actions},
    policy::{ChangeAlerts, ReadAlerts},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv},
    param_enums, params,
    present::{Json, PagedList},
    routes,
};

routes! { "Alerts" at "/projects/{id}/alert_management_alerts";
    GET ""                   => list   : ReadAlerts,
    GET "/{alert_iid}"       => show   : ReadAlerts,
    PUT "/{alert_iid}"       => update : ChangeAlerts,
    GET "/{alert_iid}/notes" => notes  : ReadAlerts,
}

param_enums! { AlertStatus, AlertSeverity }

params! {
    pub struct ListAlerts: paged {
        /// Only items with one of these statuses.
        status: Option<Csv<AlertStatus>>,
        severity: Option<Csv<AlertSeverity>>,
    }
}

async fn list(app: App, call: Call<ReadAlerts, ListAlerts>) -> ApiResult<PagedList<AlertEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let filter = AlertFilter {
        statuses: params.status.map(|all| all.0).unwrap_or_default(),
        severities: params.severity.map(|all| all.0).unwrap_or_default(),
        ..AlertFilter::default()
    };
    let Page { items, total } =
        app.db.read(move |tx| actions::list(tx, &grant, &filter, page)).await?;
    let items = items.into_iter().map(AlertEntity::new).collect::<kernel::Result<_>>()?;
    Ok(PagedList(Page { items, total }))
}

params! {
    pub struct OneAlert {
        alert_iid: i64,
    }
}

async fn show(app: App, call: Call<ReadAlerts, OneAlert>) -> ApiResult<Json<AlertEntity>> {
    let (grant, iid) = (call.grant, call.params.alert_iid);
    let found = app.db.read(move |tx| actions::read(tx, &grant, iid)).await?;
    Ok(Json(AlertEntity::new(found)?))
}

params! {
    pub struct UpdateAlert {
        alert_iid: i64,
        status: AlertStatus,
    }
}

async fn update(app: App, call: Call<ChangeAlerts, UpdateAlert>) -> ApiResult<Json<AlertEntity>> {
    let (grant, UpdateAlert { alert_iid, status }) = (call.grant, call.params);
    let incidents = Incidents { urls: app.urls.clone(), template: None };
    let changed =
        app.db.write(move |tx| actions::set_status(tx, &grant, &incidents, alert_iid, status));
    Ok(Json(AlertEntity::new(changed.await?)?))
}

params! {
    pub struct ListAlertNotes: paged {
        alert_iid: i64,
    }
}

/// What happened to an alert, newest first.
async fn notes(
    app: App,
    call: Call<ReadAlerts, ListAlertNotes>,
) -> ApiResult<PagedList<AlertNoteEntity>> {
    let (grant, page, iid, urls) = (call.grant, call.page, call.params.alert_iid, app.urls.clone());
    let listed = app.db.read(move |tx| {
        let Page { items, total } = actions::notes(tx, &grant, iid, page)?;
        Ok(Page { items: AlertNoteEntity::load(tx, &urls, items)?, total })
    });
    Ok(PagedList(listed.await?))
}
