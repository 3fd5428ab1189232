//! A picture of what a monitor showed.

use forge::urls::Urls;
use kernel::Ts;
use security::metric_image::MetricImage;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct MetricImageEntity {
    pub id: i64,
    #[schema(value_type = String)]
    pub created_at: Ts,
    pub filename: String,
    /// Path from which the image is downloaded.
    pub file_path: String,
    /// URL with more information.
    pub url: Option<String>,
    pub url_text: Option<String>,
}

impl MetricImageEntity {
    pub fn new(urls: &Urls, image: MetricImage) -> Self {
        let MetricImage { id, filename, .. } = image;
        let path = format!("uploads/-/system/alert_management_metric_image/file/{id}/{filename}");
        Self {
            id: id.0,
            created_at: image.created_at,
            file_path: urls.at(&path),
            filename,
            url: image.url,
            url_text: image.url_text,
        }
    }
}
