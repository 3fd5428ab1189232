//! Files that are sent in a form.

use actix_web::http::Method;

use super::{Answer, Person};

/// How a TIFF begins.
pub(crate) const PICTURE: &str = "II*\0 a face";

/// Sends one file in a form.
pub(crate) async fn send_file(
    person: &Person<'_>,
    method: Method,
    path: &str,
    field: &str,
    name: &str,
    content: &str,
) -> Answer {
    let body = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\r\n{content}\r\n--edge--\r\n"
    );
    person.send_bytes(method, path, "multipart/form-data; boundary=edge", body.as_bytes()).await
}
