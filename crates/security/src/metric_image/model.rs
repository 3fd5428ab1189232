//! A metric image as it is stored: a row beside a file.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Faults, Ts,
    ids::{AlertId, MetricImageId},
    values::is_web_url,
};

const LONGEST_URL: usize = 255;
const LONGEST_TEXT: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::alert_metric_images, check_for_backend(db::AnyBackend))]
pub struct MetricImage {
    pub id: MetricImageId,
    pub alert_id: AlertId,
    /// The folder of its file, which nobody is told.
    pub secret: String,
    pub filename: String,
    pub bytes: i64,
    pub url: Option<String>,
    pub url_text: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// The description and link of an image. An empty text is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageDetails {
    /// A page that tells more.
    pub url: Option<String>,
    pub url_text: Option<String>,
}

impl ImageDetails {
    pub(super) fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        let url = self.url.as_deref().filter(|url| !url.is_empty());
        faults.at_most("url", url, LONGEST_URL);
        if url.is_some_and(|url| !is_web_url(url)) {
            faults.add("url", "is blocked: Only allowed schemes are http, https");
        }
        faults.at_most("url_text", self.url_text.as_deref(), LONGEST_TEXT);
        faults
    }
}

/// Whether an image may have such a URL.
pub(crate) fn is_image_url(url: &str) -> bool {
    ImageDetails { url: Some(url.to_owned()), url_text: None }.faults().is_empty()
}

/// Whether an image may have such a text for its URL.
pub(crate) fn is_image_text(text: &str) -> bool {
    ImageDetails { url: None, url_text: Some(text.to_owned()) }.faults().is_empty()
}

#[cfg(test)]
mod tests {
    use super::ImageDetails;

    #[test]
    fn an_address_is_one_of_the_web_and_has_an_end() {
        let fits = |url: &str, text: &str| {
            let details =
                ImageDetails { url: Some(url.to_owned()), url_text: Some(text.to_owned()) };
            details.faults().is_empty()
        };
        let long = format!("https://a.test/{}", "x".repeat(240));
        assert!(fits("https://grafana.test/d?x=1", "Panel") && fits("", ""));
        assert!(fits(&long, &"x".repeat(128)));
        for url in ["javascript:alert(1)", "grafana", &format!("{long}x")] {
            assert!(!fits(url, "x"), "{url}");
        }
        assert!(!fits("", &"x".repeat(129)));
    }
}
