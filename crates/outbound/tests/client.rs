//! Fetching from servers of this machine, which are inside: only where that is allowlist.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test as the tests themselves do"
)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use forgeway_outbound::{Client, Exchange, FetchError, FetchLimits, Post};

const BOUNDS: FetchLimits = FetchLimits { bytes: 1_000, time: Duration::from_secs(10) };
const HOST: FetchError = FetchError::Refused("the host is not allowed");

/// A server that answers each path in its own way; it ends with the test.
fn serve(answer: fn(&str, SocketAddr) -> String) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || reply(stream, answer));
        }
    });
    address
}

fn reply(mut stream: TcpStream, answer: fn(&str, SocketAddr) -> String) {
    let own = stream.local_addr().unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    lines.find(String::is_empty);
    let _ = stream.write_all(answer(&path, own).as_bytes());
}

fn with(status: &str, header: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{header}\r\n{body}"
    )
}

fn to(place: &str) -> String {
    with("302 Found", &format!("Location: {place}\r\n"), "")
}

/// One that may go to 127.0.0.1 and nowhere else inside.
fn client() -> Client {
    Client::new(Arc::new(|address| address == IpAddr::V4(Ipv4Addr::LOCALHOST)))
}

#[test]
fn what_is_permitted_is_fetched_and_nothing_else_inside() {
    let address = serve(|_, _| with("200 OK", "", "stages: [a]"));
    let plain = format!("http://{address}/ci.yml");

    assert_eq!(client().get(&plain, BOUNDS).unwrap(), b"stages: [a]");
    assert_eq!(Client::default().get(&plain, BOUNDS), Err(HOST));
}

#[test]
fn no_way_of_writing_an_address_leads_inside() {
    let port = serve(|_, _| with("200 OK", "", "secret")).port();
    let mut told = Vec::new();
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "192.168.0.1",
        "[64:ff9b::7f00:1]",
        "①②⑦.⓪.⓪.①",
        "user@127.0.0.1",
        "example.com@127.0.0.1",
        "127.0.0.1#@example.com",
        "127.0.0.1\\@example.com",
    ] {
        let address = format!("http://{host}:{port}/");
        told.push((address.clone(), Client::default().get(&address, BOUNDS)));
    }
    for port in [22, 25, 379, 1023] {
        let address = format!("http://example.com:{port}/");
        told.push((address.clone(), Client::default().get(&address, BOUNDS)));
    }
    for address in
        ["file:///etc/passwd", "gopher://127.0.0.1/", "//127.0.0.1/", "http://", "", "\r\nx"]
    {
        told.push((address.to_owned(), Client::default().get(address, BOUNDS)));
    }
    let wrong: Vec<_> = told.iter().filter(|(_, answer)| answer.is_ok()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn each_place_that_an_answer_sends_to_is_judged_anew() {
    let address = serve(|path, own| match path {
        "/inside" => to(&format!("http://127.0.0.2:{}/", own.port())),
        "/cloud" => to("http://169.254.169.254/latest/meta-data/"),
        "/file" => to("file:///etc/passwd"),
        "/port" => to("http://127.0.0.1:22/"),
        "/again" => to("/again"),
        "/here" => to("/ci.yml"),
        _ => with("200 OK", "", "found"),
    });
    let get = |path: &str| client().get(&format!("http://{address}/{path}"), BOUNDS);

    assert_eq!(get("here").unwrap(), b"found");
    for inside in ["inside", "cloud"] {
        assert_eq!(get(inside), Err(HOST), "{inside}");
    }
    assert_eq!(get("port"), Err(FetchError::Refused("the port is not allowed")));
    assert_eq!(get("again"), Err(FetchError::Refused("it leads on and on")));
    // An address without a host is taken for a path of the same server; no file is read.
    assert!(get("file").is_ok_and(|bytes| bytes == b"found"));
}

/// A server that sends on to the address in the query. Where there is none it answers with the method and path, how many
/// secrets it was sent, and the body.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || echo_one(stream));
        }
    });
    address
}

fn echo_one(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while reader.read_line(&mut head).is_ok_and(|count| count > 2) {}
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let length = lines.clone().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let secrets = lines.filter(|(_, value)| *value == "secret").count();
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let text = String::from_utf8(body).unwrap();
    let answer = match path.split_once('?') {
        Some((_, place)) => with("307 Temporary Redirect", &format!("Location: {place}\r\n"), ""),
        None => with("200 OK", "", &format!("{method} {path} {secrets} {text}")),
    };
    let _ = stream.write_all(answer.as_bytes());
}

#[test]
fn redirects_are_followed_with_method_and_body_and_secrets_stay_at_their_host() {
    let (one, other) = (echo(), echo());
    let headers = [("Authorization", "secret"), ("X-Own", "secret"), ("Accept", "text/plain")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let send = |path: &str| -> Result<String, FetchError> {
        let (url, mut kept) = (format!("http://{one}/{path}"), Vec::new());
        let (method, body, limits) = ("POST", b"body", BOUNDS);
        let request = Exchange { method, url: &url, headers: &headers, body, limits };
        client().exchange_through_redirects(&request, &mut kept)?;
        Ok(String::from_utf8(kept).unwrap())
    };

    for (path, answer) in [
        ("x".to_owned(), "POST /x 2 body"),
        ("?/x".to_owned(), "POST /x 2 body"),
        (format!("?http://{one}/?/x"), "POST /x 2 body"),
        (format!("?http://{other}/x"), "POST /x 0 body"),
        (format!("?http://{other}/?http://{one}/x"), "POST /x 0 body"),
    ] {
        assert_eq!(send(&path), Ok(answer.to_owned()), "{path}");
    }
    for inside in ["127.0.0.2:8080", "169.254.169.254"] {
        assert_eq!(send(&format!("?http://{inside}/")), Err(HOST), "{inside}");
    }
    let path = format!("{}x", "?/".repeat(5));
    assert_eq!(send(&path), Ok("POST /x 2 body".to_owned()));
    let endless = FetchError::Refused("it leads on and on");
    assert_eq!(send(&format!("?/{path}")), Err(endless));
}

#[test]
fn a_redirect_of_what_has_no_body_takes_no_secret_to_another_port() {
    let (one, other) = (echo(), echo());
    let headers = [("Authorization", "secret"), ("PRIVATE-TOKEN", "secret")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let get = |path: &str| -> Result<(String, String), FetchError> {
        let (url, mut kept) = (format!("http://{one}/{path}"), Vec::new());
        let (method, body, limits) = ("GET", b"", BOUNDS);
        let request = Exchange { method, url: &url, headers: &headers, body, limits };
        let head = client().exchange(&request, &mut kept)?;
        Ok((head.url, String::from_utf8(kept).unwrap()))
    };

    for (path, answerer, secrets) in [
        ("?/x".to_owned(), one, 2),
        (format!("?http://{other}/x"), other, 0),
        (format!("?http://{other}/?http://{one}/x"), one, 0),
    ] {
        let answer = (format!("http://{answerer}/x"), format!("GET /x {secrets} "));
        assert_eq!(get(&path), Ok(answer), "{path}");
    }
    assert_eq!(get("?http://127.0.0.2:8080/"), Err(HOST));
    let endless = FetchError::Refused("it leads on and on");
    assert_eq!(get(&format!("{}x", "?/".repeat(6))), Err(endless));
}

#[test]
fn too_much_and_too_slow_come_to_an_end() {
    let address = serve(|path, _| match path {
        "/most" => with("200 OK", "", &"x".repeat(1_000)),
        "/large" => with("200 OK", "", &"x".repeat(1_001)),
        "/endless" => format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(10_000_000)),
        "/slow" => {
            std::thread::sleep(Duration::from_secs(20));
            String::new()
        }
        _ => with("404 Not Found", "", "x"),
    });
    let get = |path: &str, bounds| client().get(&format!("http://{address}/{path}"), bounds);

    assert_eq!(get("most", BOUNDS).unwrap().len(), 1_000);
    assert_eq!(get("large", BOUNDS), Err(FetchError::TooLarge));
    assert_eq!(get("endless", BOUNDS), Err(FetchError::TooLarge));
    let short = FetchLimits { time: Duration::from_millis(200), ..BOUNDS };
    assert_eq!(get("slow", short), Err(FetchError::Timeout));
    assert_eq!(get("nothing", BOUNDS), Err(FetchError::Status(404)));
}

#[test]
fn a_status_is_an_answer_also_where_its_body_breaks_off() {
    let address = serve(|path, _| match path {
        "/short" => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun".to_owned(),
        _ => with("503 Busy", "", &"x".repeat(10_000)),
    });
    let send = |path: &str| {
        let url = format!("http://{address}/{path}");
        let (method, headers, time) = ("POST", Vec::new(), Duration::from_secs(10));
        let post = Post { method, url: &url, headers: &headers, body: b"", verify: true, time };
        client().send(&post).unwrap()
    };

    let short = send("short");
    assert_eq!((short.status, short.body.as_str()), (200, "begun"));
    let long = send("long");
    assert_eq!((long.status, long.body.len()), (503, 8 << 10));
}

#[test]
fn an_answer_with_many_large_headers_is_an_answer_and_kept_in_part() {
    let address = serve(|path, _| {
        let count = if path == "/many" { 120 } else { 2_000 };
        let headers = (0..count).map(|n| format!("X-Own-{n}: {}\r\n", "v".repeat(1_000)));
        with("200 OK", &headers.collect::<String>(), "ok")
    });
    let send = |path: &str| {
        let url = format!("http://{address}/{path}");
        let (method, time) = ("POST", Duration::from_secs(10));
        client().send(&Post { method, url: &url, headers: &[], body: b"", verify: true, time })
    };

    let many = send("many").unwrap();
    assert_eq!((many.status, many.body.as_str(), many.headers.len()), (200, "ok", 50));
    assert!(many.headers.iter().all(|(_, value)| value.len() <= 1 << 10));
    assert_eq!(send("endless"), Err(FetchError::Unreachable));
}

/// A server that counts the connections it was asked for, answers each request on them, and ends them when it is told.
fn counting() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let own = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            own.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || answer_all(stream));
        }
    });
    (address, count)
}

fn answer_all(mut stream: TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    while let Some(first) = lines.next() {
        lines.find(String::is_empty);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        if first.contains("/last") {
            return;
        }
    }
}

fn post(client: &Client, url: &str, verify: bool) -> Result<u16, FetchError> {
    let (method, time) = ("POST", Duration::from_secs(10));
    let post = Post { method, url, headers: &[], body: b"", verify, time };
    client.send(&post).map(|answer| answer.status)
}

#[test]
fn requests_to_one_place_share_a_connection() {
    let (address, count) = counting();
    let client = client();
    for path in ["a", "b", "c"] {
        assert_eq!(post(&client, &format!("http://{address}/{path}"), true), Ok(200));
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(post(&client, &format!("http://{address}/d"), false), Ok(200));
    assert_eq!(count.load(Ordering::SeqCst), 2, "other terms");
}

#[test]
fn a_connection_that_ended_is_not_taken_for_an_answer() {
    let (address, count) = counting();
    let client = client();
    for path in ["last", "last", "a"] {
        assert_eq!(post(&client, &format!("http://{address}/{path}"), true), Ok(200));
    }
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

#[test]
fn a_connection_is_of_no_use_once_its_place_is_not_allowed() {
    let (address, count) = counting();
    let open = Arc::new(AtomicBool::new(true));
    let own = Arc::clone(&open);
    let client = Client::new(Arc::new(move |_| own.load(Ordering::SeqCst)));
    let url = format!("http://{address}/");
    assert_eq!(post(&client, &url, true), Ok(200));

    open.store(false, Ordering::SeqCst);

    assert_eq!(post(&client, &url, true), Err(HOST));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
