//! How much there is.

use kernel::access::Administrate;

use crate::{
    app::App, entities::server::statistics::StatisticsEntity, error::ApiResult, extract::Call,
    present::Json, routes,
};

routes! { "Application statistics" at "/application/statistics";
    GET "" => show : Administrate,
}

async fn show(app: App, call: Call<Administrate>) -> ApiResult<Json<StatisticsEntity>> {
    let grant = call.grant;
    let counted = app.db.read(move |tx| forge::statistics::count(tx, &grant)).await?;
    Ok(Json(counted.into()))
}
