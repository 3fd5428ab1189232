//! The body of a git client's request: unpacked where it was packed, and never more than its limit.

use std::io::{self, Write as _};

use actix_web::{HttpRequest, dev::Payload, http::header};
use bytes::{Buf as _, Bytes};
use flate2::write::MultiGzDecoder;
use futures_util::{StreamExt, stream, stream::LocalBoxStream};

use super::Refusal;

/// The bytes of a request or an answer, as they come.
pub(super) type Chunks = LocalBoxStream<'static, io::Result<Bytes>>;

/// So much is unpacked at a time: a thousand times as much may come out of it.
const SLICE: usize = 4096;

struct Body {
    payload: Payload,
    /// Packed bytes that were not looked at yet.
    pending: Bytes,
    unpacker: Option<MultiGzDecoder<Vec<u8>>>,
    left: u64,
}

/// The body as git reads it; it ends with an error when more than `limit` bytes come out of it.
pub(super) fn read(req: &HttpRequest, payload: Payload, limit: u64) -> Result<Chunks, Refusal> {
    let encoding = req.headers().get(header::CONTENT_ENCODING).map(header::HeaderValue::as_bytes);
    let unpacker = match encoding {
        None | Some(b"identity") => None,
        Some(b"gzip" | b"x-gzip") => Some(MultiGzDecoder::new(Vec::new())),
        Some(_) => return Err(Refusal::Encoding),
    };
    let body = Body { payload, pending: Bytes::new(), unpacker, left: limit };
    Ok(stream::unfold(Some(body), |body| async {
        let mut body = body?;
        match body.next().await {
            Ok(Some(chunk)) => Some((Ok(chunk), Some(body))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed_local())
}

impl Body {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let chunk = loop {
            if let Some(unpacked) = self.unpack()? {
                break unpacked;
            }
            let Some(chunk) = self.payload.next().await else {
                return self.end();
            };
            let chunk = chunk.map_err(io::Error::other)?;
            match self.unpacker {
                None => break chunk,
                Some(_) => self.pending = chunk,
            }
        };
        let size = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(size).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(Some(chunk))
    }

    /// The next unpacked bytes, as far as they have arrived.
    fn unpack(&mut self) -> io::Result<Option<Bytes>> {
        let Some(unpacker) = &mut self.unpacker else { return Ok(None) };
        while !self.pending.is_empty() {
            let slice = self.pending.split_to(SLICE.min(self.pending.remaining()));
            unpacker.write_all(&slice)?;
            let unpacked = std::mem::take(unpacker.get_mut());
            if !unpacked.is_empty() {
                return Ok(Some(unpacked.into()));
            }
        }
        Ok(None)
    }

    /// Checks that a packed body did not break off.
    fn end(&mut self) -> io::Result<Option<Bytes>> {
        let Some(mut unpacker) = self.unpacker.take() else { return Ok(None) };
        unpacker.try_finish()?;
        let last = std::mem::take(unpacker.get_mut());
        let size = u64::try_from(last.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(size).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok((!last.is_empty()).then(|| last.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use actix_web::test::TestRequest;
    use bytes::Bytes;
    use flate2::{Compression, write::GzEncoder};
    use futures_util::TryStreamExt;

    use super::read;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    async fn unpack(sent: Vec<u8>, limit: u64) -> Result<usize, std::io::ErrorKind> {
        let request = TestRequest::post().insert_header(("Content-Encoding", "gzip"));
        let (req, payload) = request.set_payload(sent).to_http_parts();
        let chunks: Result<Vec<Bytes>, _> = read(&req, payload, limit).unwrap().try_collect().await;
        chunks.map(|chunks| chunks.iter().map(Bytes::len).sum()).map_err(|error| error.kind())
    }

    #[actix_web::test]
    async fn packed_bodies_are_unpacked() {
        assert_eq!(unpack(packed(&[b'x'; 300_000]), 300_000).await, Ok(300_000));
        assert_eq!(unpack(packed(b""), 0).await, Ok(0));
    }

    #[actix_web::test]
    async fn a_small_body_cannot_become_a_huge_one() {
        let bomb = packed(&vec![0; 50_000_000]);
        assert!(bomb.len() < 60_000);
        assert_eq!(unpack(bomb, 1_000_000).await, Err(std::io::ErrorKind::FileTooLarge));
    }

    #[actix_web::test]
    async fn a_body_that_breaks_off_is_an_error() {
        let whole = packed(b"hello hello hello");
        assert!(unpack(whole[..whole.len() - 6].to_vec(), 1_000).await.is_err());
        assert!(unpack(b"no gzip at all".to_vec(), 1_000).await.is_err());
    }
}
