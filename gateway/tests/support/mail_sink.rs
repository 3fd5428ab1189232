//! A mail server that keeps what it is given: enough SMTP for one client at a time.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use forge::mail::smtp::MailServer;

/// A letter as it came over the wire.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedLetter {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) data: String,
}

#[derive(Clone)]
pub(crate) struct MailSink {
    address: SocketAddr,
    letters: Arc<Mutex<Vec<ReceivedLetter>>>,
    /// How many letters are still to be turned away.
    refusals: Arc<AtomicUsize>,
}

impl MailSink {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let sink = Self {
            address: listener.local_addr().expect("an address"),
            letters: Arc::default(),
            refusals: Arc::default(),
        };
        let kept = sink.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client that goes away in the middle has sent nothing.
                let _ = kept.converse(&client);
            }
        });
        sink
    }

    /// Turns the next letters away, as a server does that is too busy.
    pub(crate) fn refuse(&self, letters: usize) {
        self.refusals.store(letters, Ordering::SeqCst);
    }

    pub(crate) fn address(&self) -> MailServer {
        let url = format!("smtp://{}", self.address);
        MailServer { url, from: "Forge <forge@forge.test>".to_owned() }
    }

    /// Everything that came since the last look.
    pub(crate) fn take(&self) -> Vec<ReceivedLetter> {
        std::mem::take(&mut *self.letters.lock().expect("nobody panicked"))
    }

    fn converse(&self, client: &TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(client.try_clone()?).lines();
        let say = |text: &str| write!(&mut &*client, "{text}\r\n");
        let mut letter = ReceivedLetter::default();
        say("220 sink")?;
        while let Some(line) = lines.next().transpose()? {
            let upper = line.to_uppercase();
            if upper.starts_with("EHLO") || upper.starts_with("HELO") {
                say("250 sink")?;
            } else if upper.starts_with("MAIL FROM:") {
                letter = ReceivedLetter {
                    from: line["MAIL FROM:".len()..].to_owned(),
                    ..ReceivedLetter::default()
                };
                say("250 ok")?;
            } else if upper.starts_with("RCPT TO:") {
                let left = self
                    .refusals
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
                if left.is_ok() {
                    say("451 come back later")?;
                    continue;
                }
                let address = line["RCPT TO:".len()..].trim_matches(['<', '>']);
                letter.to.push(address.to_owned());
                say("250 ok")?;
            } else if upper == "DATA" {
                say("354 go on")?;
                for line in lines.by_ref() {
                    let line = line?;
                    if line == "." {
                        break;
                    }
                    letter.data += line.strip_prefix('.').unwrap_or(&line);
                    letter.data.push('\n');
                }
                self.letters.lock().expect("nobody panicked").push(letter.clone());
                say("250 kept")?;
            } else if upper == "QUIT" {
                say("221 bye")?;
                return Ok(());
            } else {
                say("250 ok")?;
            }
        }
        Ok(())
    }
}
