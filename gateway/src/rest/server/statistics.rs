//! Statistics of the installation.

use entities::server::statistics::InstanceStatisticsEntity;
use kernel::access::Administrate;

use crate::{app::App, error::ApiResult, extract::Call, present::Json, routes};

routes! { "Application statistics" at "/application/statistics";
    GET "" => show : Administrate,
}

async fn show(app: App, call: Call<Administrate>) -> ApiResult<Json<InstanceStatisticsEntity>> {
    let grant = call.grant;
    let counted = app.db.read(move |tx| forge::statistics::count(tx, &grant)).await?;
    Ok(Json(counted.into()))
}
