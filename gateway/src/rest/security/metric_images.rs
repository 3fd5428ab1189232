//! Pictures that people add to alerts.

use actix_web::HttpResponse;
use entities::security::metric_image::MetricImageEntity;
use forge::{alert::metric_images, files::Upload};
use kernel::{access::Anyone, ids::MetricImageId, page::Page};
use security::{
    metric_image::{
        ImageDetails,
        actions::{self, IMAGE_SIZE_LIMIT},
    },
    policy::{ChangeAlerts, ReadMetricImages},
};
use serde_json::json;

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, Custom, Json, NoContent, PagedList},
    rest::shared::uploaded_files::file_response,
    routes,
};

routes! { "Metric images" at "";
    GET    "/projects/{id}/alert_management_alerts/{alert_iid}/metric_images"                    => list      : ReadMetricImages,
    POST   "/projects/{id}/alert_management_alerts/{alert_iid}/metric_images"                    => add       : ChangeAlerts,
    POST   "/projects/{id}/alert_management_alerts/{alert_iid}/metric_images/authorize"          => authorize : ChangeAlerts,
    PUT    "/projects/{id}/alert_management_alerts/{alert_iid}/metric_images/{metric_image_id}"  => update    : ChangeAlerts,
    DELETE "/projects/{id}/alert_management_alerts/{alert_iid}/metric_images/{metric_image_id}"  => remove    : ChangeAlerts,
    GET    "//uploads/-/system/alert_management_metric_image/file/{metric_image_id}/{filename}"  => show_file : Anyone,
}

params! {
    pub struct ListMetricImages: paged {
        alert_iid: i64,
    }
}

async fn list(
    app: App,
    call: Call<ReadMetricImages, ListMetricImages>,
) -> ApiResult<PagedList<MetricImageEntity>> {
    let (grant, page, iid) = (call.grant, call.page, call.params.alert_iid);
    let Page { items, total } = app.db.read(move |tx| actions::list(tx, &grant, iid, page)).await?;
    let shown = |image| MetricImageEntity::new(&app.urls, image);
    Ok(PagedList(Page { items: items.into_iter().map(shown).collect(), total }))
}

params! {
    pub struct AddMetricImage {
        alert_iid: i64,
        /// A picture, of a megabyte at most.
        file: Upload,
        /// URL with more information.
        url: Option<String>,
        /// Description of the image, or label of the link.
        url_text: Option<String>,
    }
}

async fn add(
    app: App,
    call: Call<ChangeAlerts, AddMetricImage>,
) -> ApiResult<Created<MetricImageEntity>> {
    let AddMetricImage { alert_iid, file, url, url_text } = call.params;
    let details = ImageDetails { url, url_text };
    let added = metric_images::add(&app, call.grant, alert_iid, file, details).await?;
    Ok(Created(MetricImageEntity::new(&app.urls, added)))
}

params! {
    pub struct AuthorizeMetricImage {
        alert_iid: i64,
    }
}

/// There is no front proxy that would ask.
async fn authorize(app: App, call: Call<ChangeAlerts, AuthorizeMetricImage>) -> ApiResult<Custom> {
    let (grant, iid) = (call.grant, call.params.alert_iid);
    app.db.read(move |tx| actions::ensure_alert(tx, &grant, iid)).await?;
    Ok(Custom(HttpResponse::Ok().json(json!({ "MaximumSize": IMAGE_SIZE_LIMIT }))))
}

params! {
    pub struct UpdateMetricImage {
        alert_iid: i64,
        metric_image_id: MetricImageId,
        /// URL with more information.
        url: Option<String>,
        /// Description of the image, or label of the link.
        url_text: Option<String>,
    }
}

async fn update(
    app: App,
    call: Call<ChangeAlerts, UpdateMetricImage>,
) -> ApiResult<Json<MetricImageEntity>> {
    let UpdateMetricImage { alert_iid, metric_image_id: id, url, url_text } = call.params;
    let (grant, change) = (call.grant, ImageDetails { url, url_text });
    let changed = app.db.write(move |tx| actions::update(tx, &grant, alert_iid, id, change));
    Ok(Json(MetricImageEntity::new(&app.urls, changed.await?)))
}

params! {
    pub struct OneMetricImage {
        alert_iid: i64,
        metric_image_id: MetricImageId,
    }
}

async fn remove(app: App, call: Call<ChangeAlerts, OneMetricImage>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let OneMetricImage { alert_iid, metric_image_id: id } = call.params;
    metric_images::remove(&app, call.grant, alert_iid, id, since).await?;
    Ok(NoContent)
}

params! {
    pub struct OneImageFile {
        metric_image_id: MetricImageId,
        filename: String,
    }
}

/// For those who see the alert.
async fn show_file(app: App, call: Call<Anyone, OneImageFile>) -> ApiResult<Custom> {
    let OneImageFile { metric_image_id: id, filename } = call.params;
    let file = metric_images::find(&app, call.grant.actor(), id, filename.clone()).await?;
    file_response(&app.uploads, &file, &filename).await
}
