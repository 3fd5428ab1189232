//! Contents in a bucket, against as much of S3 as is asked for here. `cargo xtask test --clients` uses a whole one.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use bytes::Bytes;
use forgeway_objects::{Bucket, Objects};
use futures_util::TryStreamExt as _;
use kernel::{Error, error::Kind};
use tokio::runtime::Handle;

type Contents = HashMap<String, Vec<u8>>;

/// What of a request matters here: method, path, headers in small letters, body.
type Request = (String, String, HashMap<String, String>, Vec<u8>);

fn request(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream);
    let mut first = String::new();
    lines.read_line(&mut first).ok()?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    lines.read_exact(&mut body).ok()?;
    Some((method, path, headers, body))
}

fn answer(kept: &mut Contents, stream: &TcpStream) -> Option<()> {
    let (method, path, headers, body) = request(stream)?;
    let signed = headers.get("authorization").is_some_and(|text| text.contains("AWS4-HMAC-SHA256"));
    let (status, body) = match (method.as_str(), kept.get(&path)) {
        _ if !signed => ("403 Forbidden", Vec::new()),
        ("PUT", _) => {
            kept.insert(path, body);
            ("200 OK", Vec::new())
        }
        (_, Some(_)) if path.ends_with("busy") => ("503 Slow Down", Vec::new()),
        (_, Some(found)) => match headers.get("range").map(|range| range.replace("bytes=", "")) {
            Some(range) => {
                let mut ends = range.split('-').filter_map(|end| end.parse::<usize>().ok());
                ("206 Partial Content", found[ends.next()?..=ends.next()?].to_vec())
            }
            None => ("200 OK", found.clone()),
        },
        (_, None) => ("404 Not Found", Vec::new()),
    };
    let place = match headers.get("range").filter(|_| status.starts_with("206")) {
        Some(range) => format!("Content-Range: {}/20\r\n", range.replace('=', " ")),
        None => String::new(),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nETag: \"a\"\r\n{place}\
         Last-Modified: Mon, 23 Nov 2026 12:00:00 GMT\r\nConnection: close\r\n\r\n"
    );
    let mut stream = stream;
    stream.write_all(&[head.as_bytes(), &body].concat()).ok()
}

/// Serves until the test ends; the answer is where.
fn serve() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let mut kept = Contents::new();
        for stream in listener.incoming().flatten() {
            let _answered = answer(&mut kept, &stream);
        }
    });
    format!("http://{address}")
}

fn objects(endpoint: &str) -> Objects {
    let bucket = Bucket {
        name: "forge".to_owned(),
        prefix: "a".to_owned(),
        endpoint: Some(endpoint.to_owned()),
        region: "us-east-1".to_owned(),
        access_key: "key".to_owned(),
        secret_key: "secret".to_owned(),
    };
    bucket.objects("uploads").expect("a bucket")
}

/// Not the caller's fault, and none of the program either.
fn is_away(refused: &Error) -> bool {
    refused.kind == Kind::Unavailable && refused.is_ours()
}

async fn whole(objects: &Objects, name: &str) -> Vec<u8> {
    let (_, pieces) = objects.read(name).await.expect("a content");
    pieces.try_collect::<Vec<Bytes>>().await.expect("pieces").concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_content_is_kept_in_a_bucket_and_read_from_there() {
    let objects = objects(&serve());
    let mut incoming = objects.begin("1/Grüße.txt").unwrap();
    incoming.write(b"0123456789").await.unwrap();
    incoming.write(b"abcdefghij").await.unwrap();
    assert_eq!(incoming.finish().await.unwrap().size, 20);

    assert_eq!(whole(&objects, "1/Grüße.txt").await, b"0123456789abcdefghij");
    let part = objects.read_part("1/Grüße.txt", 9..12).await.unwrap();
    assert_eq!(part.try_collect::<Vec<Bytes>>().await.expect("pieces").concat(), b"9ab");
    let (other, runtime) = (objects.clone(), Handle::current());
    let put = move || other.put_blocking(&runtime, "2/me.png", Bytes::from_static(b"png"));
    kernel::task::spawn_blocking(put).await.unwrap().unwrap();
    assert_eq!(whole(&objects, "2/me.png").await, b"png");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_told_from_a_bucket_that_does_not_answer() {
    let endpoint = serve();
    let known = objects(&endpoint);
    let none = known.read("1/none").await;
    assert!(none.is_err_and(|refused| refused.is_plain(Kind::NotFound)));
    known.begin("1/busy").unwrap().finish().await.unwrap();
    assert!(known.read("1/busy").await.is_err_and(|refused| is_away(&refused)));
    let nobody = objects("http://127.0.0.1:1");
    assert!(nobody.read("1/none").await.is_err_and(|refused| is_away(&refused)));
}
