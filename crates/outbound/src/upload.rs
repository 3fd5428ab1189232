//! Files that are sent, whatever their length.

use std::{fs::File, io::Write};

use ureq::http::{Request, Uri, header};

use crate::{
    AnswerHead, Client, FetchError, FetchLimits,
    client::{failure, refused},
    exchange::read_answer,
    guard::check_uri,
};

/// A file on its way out. It is sent once, and to no other place than the named one.
#[derive(Clone, Copy, Debug)]
pub struct FileUpload<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub content_type: &'a str,
    pub limits: FetchLimits,
}

impl Client {
    /// Sends a file from where it stands to its end, and copies the body of the answer into `sink`. Blocks until that has
    /// ended or the time is up.
    ///
    /// # Errors
    /// When there is no whole answer.
    pub fn upload(
        &self,
        upload: &FileUpload<'_>,
        file: File,
        sink: &mut impl Write,
    ) -> Result<AnswerHead, FetchError> {
        let uri: Uri = upload.url.parse().map_err(|_no| FetchError::Refused("it is no address"))?;
        check_uri(&uri).map_err(refused)?;
        let length = file.metadata().map_err(|cause| failure(cause.into()))?.len();
        let request = Request::builder()
            .method(upload.method)
            .uri(uri)
            .header(header::CONTENT_TYPE, upload.content_type)
            .header(header::CONTENT_LENGTH, length)
            .body(file)
            .map_err(|_odd| FetchError::Refused("a header cannot be sent"))?;
        let answer = self.run_with(request, upload.limits).map_err(failure)?;
        read_answer(answer, sink, upload.limits.bytes)
    }
}
