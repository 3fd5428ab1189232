//! Many connections that say nothing: what they cost, and whether others notice.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use anyhow::{Context as _, Result};

pub(super) const CONNECTIONS: usize = 10_000;

/// Opens connections that each asked once and stay; fewer than asked for when the system allows no more files.
pub(super) fn connections(port: u16, count: usize) -> Result<Vec<TcpStream>> {
    let mut open = Vec::new();
    for n in 0..count {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(connection) => open.push(asked_once(connection)?),
            Err(error) => {
                println!("bench: no more than {n} idle connections: {error}");
                break;
            }
        }
    }
    Ok(open)
}

fn asked_once(mut connection: TcpStream) -> Result<TcpStream> {
    connection.write_all(b"GET /-/liveness HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let mut answer = [0; 4096];
    let read = connection.read(&mut answer)?;
    let head = String::from_utf8_lossy(&answer[..read]);
    head.starts_with("HTTP/1.1 200")
        .then_some(connection)
        .with_context(|| format!("an idle connection got {head:?}"))
}
