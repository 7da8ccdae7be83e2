//! A TPM that was recorded: what it answered once, it answers again, and nothing else.

use std::collections::VecDeque;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::device::{
    AkBlob, AkKind, Credential, EkKind, Endorsement, Properties, SignedQuote, Tpm, TpmError,
};
use super::pcr::{PcrSelection, PcrValues};
use crate::digest::{Digest, encode_hex};

/// One question to a TPM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Question {
    Properties,
    Endorsement(EkKind),
    CreateAk(EkKind, AkKind),
    Activate(AkBlob, EkKind, Credential),
    Quote(AkBlob, String, PcrSelection),
    Read(PcrSelection),
    Extend(u8, Vec<Digest>),
}

/// One question and its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Exchange {
    question: Question,
    answer: Result<serde_json::Value, TpmError>,
}

/// Everything that a TPM was asked and answered, in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Recording(Vec<Exchange>);

impl Recording {
    /// How many exchanges were recorded.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Passes questions on to a TPM and records the answers.
pub struct Recorder<T> {
    inner: T,
    recording: Recording,
}

impl<T: Tpm> Recorder<T> {
    /// Starts to record a TPM.
    pub fn new(inner: T) -> Self {
        Recorder {
            inner,
            recording: Recording::default(),
        }
    }

    /// What was recorded.
    pub fn finish(self) -> Recording {
        self.recording
    }

    fn ask<A: Serialize>(
        &mut self,
        question: Question,
        ask: impl FnOnce(&mut T) -> Result<A, TpmError>,
    ) -> Result<A, TpmError> {
        let answer = ask(&mut self.inner);
        let stored = match &answer {
            Ok(value) => Ok(serde_json::to_value(value).map_err(unreadable)?),
            Err(error) => Err(error.clone()),
        };
        self.recording.0.push(Exchange {
            question,
            answer: stored,
        });
        answer
    }
}

fn unreadable(error: serde_json::Error) -> TpmError {
    TpmError::Failed(format!("the recording cannot be read: {error}"))
}

/// Answers from a recording; a question that was not asked then, in that order, is refused.
pub struct RecordedTpm {
    left: VecDeque<Exchange>,
}

impl RecordedTpm {
    /// Replays a recording.
    pub fn new(recording: Recording) -> Self {
        RecordedTpm {
            left: recording.0.into(),
        }
    }

    /// How many answers are left.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    fn answer<A: DeserializeOwned>(&mut self, question: &Question) -> Result<A, TpmError> {
        let next = self
            .left
            .front()
            .is_some_and(|exchange| exchange.question == *question);
        match self.left.pop_front().filter(|_| next) {
            Some(exchange) => serde_json::from_value(exchange.answer?).map_err(unreadable),
            None => Err(TpmError::Unavailable(
                "the recording has no answer to this question".to_owned(),
            )),
        }
    }
}

fn quote_question(ak: &AkBlob, qualifying: &[u8], selection: &PcrSelection) -> Question {
    Question::Quote(ak.clone(), encode_hex(qualifying), selection.clone())
}

impl<T: Tpm> Tpm for Recorder<T> {
    fn properties(&mut self) -> Result<Properties, TpmError> {
        self.ask(Question::Properties, T::properties)
    }

    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
        self.ask(Question::Endorsement(kind), |tpm| tpm.endorsement(kind))
    }

    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
        self.ask(Question::CreateAk(parent, kind), |tpm| {
            tpm.create_ak(parent, kind)
        })
    }

    fn activate_credential(
        &mut self,
        ak: &AkBlob,
        endorsement: EkKind,
        credential: &Credential,
    ) -> Result<Zeroizing<Vec<u8>>, TpmError> {
        let question = Question::Activate(ak.clone(), endorsement, credential.clone());
        let secret = self.ask(question, |tpm| {
            tpm.activate_credential(ak, endorsement, credential)
                .map(|secret| secret.to_vec())
        })?;
        Ok(Zeroizing::new(secret))
    }

    fn sign_quote(
        &mut self,
        ak: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError> {
        self.ask(quote_question(ak, qualifying, selection), |tpm| {
            tpm.sign_quote(ak, qualifying, selection)
        })
    }

    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
        self.ask(Question::Read(selection.clone()), |tpm| {
            tpm.read_pcrs(selection)
        })
    }

    fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
        self.ask(Question::Extend(pcr, digests.to_vec()), |tpm| {
            tpm.extend(pcr, digests)
        })
    }
}

impl Tpm for RecordedTpm {
    fn properties(&mut self) -> Result<Properties, TpmError> {
        self.answer(&Question::Properties)
    }

    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
        self.answer(&Question::Endorsement(kind))
    }

    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
        self.answer(&Question::CreateAk(parent, kind))
    }

    fn activate_credential(
        &mut self,
        ak: &AkBlob,
        endorsement: EkKind,
        credential: &Credential,
    ) -> Result<Zeroizing<Vec<u8>>, TpmError> {
        self.answer(&Question::Activate(
            ak.clone(),
            endorsement,
            credential.clone(),
        ))
        .map(Zeroizing::new)
    }

    fn sign_quote(
        &mut self,
        ak: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError> {
        self.answer(&quote_question(ak, qualifying, selection))
    }

    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
        self.answer(&Question::Read(selection.clone()))
    }

    fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
        self.answer(&Question::Extend(pcr, digests.to_vec()))
    }
}
