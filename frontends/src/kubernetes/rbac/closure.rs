//! What a subject can come to hold: the rights it has, those of whom it can act as, and so on until nothing is new.
//!
//! Rights add up: who reads the token of one account and acts as another has the rights of both. So what follows is found
//! for a subject as a whole, each new thing with the rights that lead to it.

use std::fmt;
use std::sync::Arc;

use locus_core::Span;
use rustc_hash::FxHashSet;

use super::ability::{Ability, Power, Scope, of};
use super::{AGGREGATOR, Grants, Subject};

/// Something that can be held.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Held {
    /// To act as somebody.
    Subject(Subject),
    /// A role, in a namespace or in the whole cluster.
    Role(usize, Option<Arc<str>>),
    /// Everything in a namespace.
    Namespace(Arc<str>),
    /// Everything.
    ClusterAdmin,
}

/// A step on the way to something: a right, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happens, as a sentence without a full stop.
    pub text: String,
    /// Where the right is written.
    pub span: Option<Span>,
}

/// How something came to be held.
#[derive(Clone, Debug)]
struct Origin {
    held: Held,
    /// The rights that lead to it, each with the position of what grants it.
    rights: Vec<(usize, Right)>,
}

/// A right by its place: the binding or role that grants it, and the position of the ability there.
#[derive(Clone, Debug)]
struct Right {
    text: String,
    span: Option<Span>,
}

/// All that follows from being somebody.
#[derive(Debug)]
pub struct Closure<'g> {
    grants: &'g Grants,
    origins: Vec<Origin>,
    known: FxHashSet<Held>,
    /// What was found to be possible so far: who holds it, and what it is.
    abilities: Vec<(usize, Ability)>,
    /// The positions of those that lead further only with others.
    partners: Vec<usize>,
    /// Whether to stop at everything.
    stop: bool,
}

impl<'g> Closure<'g> {
    /// All that follows from being somebody.
    pub fn of(grants: &'g Grants, subject: &Subject) -> Closure<'g> {
        let mut closure = Closure {
            grants,
            origins: Vec::new(),
            known: FxHashSet::default(),
            abilities: Vec::new(),
            partners: Vec::new(),
            stop: false,
        };
        closure.run(subject);
        closure
    }

    /// The way from being somebody to everything in the cluster, if there is one.
    pub fn way_to_admin(grants: &'g Grants, subject: &Subject) -> Option<Vec<Step>> {
        let mut closure = Closure {
            grants,
            origins: Vec::new(),
            known: FxHashSet::default(),
            abilities: Vec::new(),
            partners: Vec::new(),
            stop: true,
        };
        closure.run(subject);
        closure.way(&Held::ClusterAdmin)
    }

    /// Everything that is held, in the order in which it is reached.
    pub fn held(&self) -> impl Iterator<Item = &Held> {
        self.origins.iter().map(|origin| &origin.held)
    }

    /// The steps that lead to something that is held.
    pub fn way(&self, wanted: &Held) -> Option<Vec<Step>> {
        let at = self
            .origins
            .iter()
            .position(|origin| origin.held == *wanted)?;
        let mut needed = vec![at];
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            for (from, _) in self
                .origins
                .get(at)
                .map_or(&[][..], |origin| &origin.rights)
            {
                if !needed.contains(from) {
                    needed.push(*from);
                    open.push(*from);
                }
            }
        }
        // What is needed for something was found before it.
        needed.sort_unstable();
        let mut steps = Vec::new();
        for at in needed {
            let Some(origin) = self.origins.get(at) else {
                continue;
            };
            let last = origin.rights.len().saturating_sub(1);
            for (number, (from, right)) in origin.rights.iter().enumerate() {
                let who = self.origins.get(*from).map(|origin| &origin.held);
                let who = who.map_or_else(String::new, |held| self.name(held));
                let so = match number == last {
                    true => format!(", and so {}", self.becomes(&origin.held)),
                    false => String::new(),
                };
                steps.push(Step {
                    text: format!("{who} may {}{so}", right.text),
                    span: right.span,
                });
            }
        }
        Some(steps)
    }

    fn name(&self, held: &Held) -> String {
        match held {
            Held::Subject(subject) => subject.to_string(),
            Held::Role(role, _) => self.role(*role),
            Held::Namespace(namespace) => format!("whoever holds namespace `{namespace}`"),
            Held::ClusterAdmin => "a cluster-admin".to_owned(),
        }
    }

    fn role(&self, role: usize) -> String {
        let role = self.grants.roles.get(role);
        role.map_or_else(String::new, |role| role.to_string())
    }

    fn becomes(&self, held: &Held) -> String {
        match held {
            Held::Subject(subject) => format!("act as {subject}"),
            Held::Role(role, Some(namespace)) => {
                format!("hold {} in `{namespace}`", self.role(*role))
            }
            Held::Role(role, None) => format!("hold {}", self.role(*role)),
            Held::Namespace(namespace) => format!("do everything in `{namespace}`"),
            Held::ClusterAdmin => "do everything in the cluster".to_owned(),
        }
    }

    fn run(&mut self, subject: &Subject) {
        self.reach(Held::Subject(subject.clone()), Vec::new());
        let mut done = 0;
        while done < self.origins.len() && !self.is_over() {
            let first = self.abilities.len();
            self.gain(done);
            self.follow(first);
            done += 1;
        }
    }

    fn is_over(&self) -> bool {
        self.stop && self.known.contains(&Held::ClusterAdmin)
    }

    fn reach(&mut self, held: Held, rights: Vec<(usize, Right)>) {
        if self.known.insert(held.clone()) {
            self.origins.push(Origin { held, rights });
        }
    }

    /// Adds what something that is held makes possible.
    fn gain(&mut self, at: usize) {
        let Some(held) = self.origins.get(at).map(|origin| origin.held.clone()) else {
            return;
        };
        match held {
            Held::Subject(subject) => {
                match &subject {
                    Subject::Group(group) if &**group == "system:masters" => {
                        let text = "do everything, as a member of `system:masters`".to_owned();
                        self.ability(at, Power::Everything, text, None);
                    }
                    Subject::Account(namespace, name)
                        if &**namespace == "kube-system" && &**name == AGGREGATOR =>
                    {
                        let text =
                            "write any rule into any ClusterRole, in every cluster".to_owned();
                        self.ability(at, Power::Everything, text, None);
                    }
                    _ => {}
                }
                for binding in self.grants.bindings_of(&subject) {
                    self.bound(at, binding);
                }
            }
            Held::Role(role, namespace) => {
                for ability in of(self.grants, role, namespace.as_ref()) {
                    self.abilities.push((at, ability));
                }
            }
            Held::Namespace(namespace) => {
                let scope = Scope {
                    namespace: Some(namespace.clone()),
                    names: Vec::new(),
                };
                let text = format!("do everything in `{namespace}`");
                self.ability(at, Power::Accounts(scope), text, None);
            }
            Held::ClusterAdmin => {
                let text = "do everything".to_owned();
                self.ability(at, Power::Accounts(Scope::default()), text, None);
            }
        }
    }

    fn ability(&mut self, at: usize, power: Power, text: String, span: Option<Span>) {
        self.abilities.push((at, Ability { power, text, span }));
    }

    /// Adds the rights of a binding.
    fn bound(&mut self, at: usize, binding: usize) {
        let Some(bound) = self.grants.bindings.get(binding) else {
            return;
        };
        let role = self.role(bound.role);
        let abilities = self.grants.abilities.get(binding);
        for ability in abilities.map_or(&[][..], Vec::as_slice) {
            self.abilities.push((
                at,
                Ability {
                    text: format!("{} ({role})", ability.text),
                    // A role that every cluster has is written where it is bound.
                    span: ability.span.or(Some(bound.span)),
                    ..ability.clone()
                },
            ));
        }
    }

    fn right(&self, at: usize) -> Vec<(usize, Right)> {
        let found = self.abilities.get(at).map(|(from, ability)| {
            let right = Right {
                text: ability.text.clone(),
                span: ability.span,
            };
            (*from, right)
        });
        found.into_iter().collect()
    }

    fn rights(&self, all: &[usize]) -> Vec<(usize, Right)> {
        all.iter().flat_map(|&at| self.right(at)).collect()
    }

    /// What follows from the abilities from a position on, together with all before.
    fn follow(&mut self, first: usize) {
        for at in first..self.abilities.len() {
            let Some((_, ability)) = self.abilities.get(at) else {
                continue;
            };
            let power = ability.power.clone();
            self.alone(at, &power);
            if needs_others(&power) {
                self.partners.push(at);
                self.together(at, &power);
            }
        }
        // Whether a role that can be written is one's own changes with whom one can act as.
        for at in self.partners.clone() {
            let power = self
                .abilities
                .get(at)
                .map(|(_, ability)| ability.power.clone());
            if let Some(power @ (Power::EscalateRoles(_) | Power::EscalateClusterRoles)) = power {
                self.together(at, &power);
            }
        }
    }

    /// What follows from one right.
    fn alone(&mut self, at: usize, power: &Power) {
        let grants = self.grants;
        match power {
            Power::Everything => self.reach(Held::ClusterAdmin, self.right(at)),
            Power::Accounts(scope) => self.accounts(scope, &[at]),
            Power::Pods(scope) => {
                for holder in &grants.holders {
                    // Pods of a controller are called like it, with more behind.
                    let named = scope.names.is_empty()
                        || scope.names.iter().any(|name| match &*holder.kind {
                            "Pod" => **name == *holder.name,
                            _ => name.starts_with(&format!("{}-", holder.name)),
                        });
                    if named && scope.has_namespace(&holder.namespace) {
                        self.reach(Held::Subject(holder.account.clone()), self.right(at));
                    }
                }
            }
            Power::ReadSecrets(scope) => {
                for token in &grants.tokens {
                    if scope.has_namespace(&token.namespace) && scope.has_name(&token.name) {
                        self.reach(Held::Subject(token.account.clone()), self.right(at));
                    }
                }
            }
            Power::Users(scope) if scope.has_name("system:kube-controller-manager") => {
                // That user can ask for the token of any account, in every cluster.
                self.reach(Held::ClusterAdmin, self.right(at));
            }
            Power::Users(scope) => {
                for name in &scope.names {
                    self.reach(Held::Subject(Subject::user(name)), self.right(at));
                }
            }
            _ => {}
        }
    }

    /// The accounts of a namespace, or of all.
    fn accounts(&mut self, scope: &Scope, rights: &[usize]) {
        let grants = self.grants;
        for account in &grants.accounts {
            if let Subject::Account(namespace, name) = account
                && scope.has_namespace(namespace)
                && scope.has_name(name)
            {
                self.reach(Held::Subject(account.clone()), self.rights(rights));
            }
        }
    }

    /// What follows from two or three rights.
    fn together(&mut self, at: usize, power: &Power) {
        let others: Vec<(usize, Power)> = self
            .partners
            .iter()
            .filter_map(|&at| Some((at, self.abilities.get(at)?.1.power.clone())))
            .collect();
        for (other, partner) in &others {
            let (one, two) = (*other, at);
            for (a, b, pair) in [(partner, power, [one, two]), (power, partner, [two, one])] {
                self.pair(a, b, pair);
            }
        }
        let is = |wanted: &Power| {
            others
                .iter()
                .find(|(_, power)| power == wanted)
                .map(|(at, _)| *at)
        };
        if let (Some(request), Some(approve), Some(sign)) = (
            is(&Power::RequestCertificates),
            is(&Power::ApproveRequests),
            is(&Power::ApproveSigner),
        ) {
            self.reach(Held::ClusterAdmin, self.rights(&[request, approve, sign]));
        }
    }

    /// What follows from two rights in this order.
    fn pair(&mut self, a: &Power, b: &Power, pair: [usize; 2]) {
        match (a, b) {
            // A Secret can be made that is filled with the token of an account.
            (Power::MakeSecrets(make), Power::ReadSecrets(read)) if read.names.is_empty() => {
                if let Some(namespace) = make.shared(read) {
                    let scope = Scope {
                        namespace,
                        names: Vec::new(),
                    };
                    self.accounts(&scope, &pair);
                }
            }
            (Power::BindClusterRoles(bind), Power::MakeClusterBindings)
                if bind.namespace.is_none() =>
            {
                self.bind("ClusterRole", bind, None, pair);
            }
            (Power::BindClusterRoles(bind), Power::MakeBindings(make)) => {
                if let Some(Some(namespace)) = bind.shared(make) {
                    self.bind("ClusterRole", bind, Some(&namespace), pair);
                } else if bind.shared(make) == Some(None) {
                    for namespace in self.namespaces() {
                        self.bind("ClusterRole", bind, Some(&namespace), pair);
                    }
                }
            }
            (Power::BindRoles(bind), Power::MakeBindings(make)) => {
                let namespaces = match bind.shared(make) {
                    Some(Some(namespace)) => vec![namespace],
                    Some(None) => self.namespaces(),
                    None => Vec::new(),
                };
                for namespace in namespaces {
                    self.bind("Role", bind, Some(&namespace), pair);
                }
            }
            (Power::EscalateRoles(escalate), Power::WriteRoles(write)) => {
                for namespace in self.written(write, true) {
                    if escalate.has_namespace(&namespace) {
                        self.reach(Held::Namespace(namespace), self.rights(&pair));
                    }
                }
            }
            (Power::EscalateClusterRoles, Power::WriteClusterRoles(write))
                if !self.written(write, false).is_empty() =>
            {
                self.reach(Held::ClusterAdmin, self.rights(&pair));
            }
            // A group comes with whom one acts as.
            (Power::Users(_), Power::Groups(groups)) => self.groups(groups, pair),
            (Power::Accounts(_), Power::Groups(groups)) => {
                let [account, _] = pair;
                let impersonates = self
                    .abilities
                    .get(account)
                    .is_some_and(|(_, ability)| ability.text.starts_with("impersonate"));
                if impersonates {
                    self.groups(groups, pair);
                }
            }
            _ => {}
        }
    }

    fn groups(&mut self, groups: &Scope, pair: [usize; 2]) {
        if groups.names.is_empty() {
            self.reach(Held::ClusterAdmin, self.rights(&pair));
        }
        for name in &groups.names {
            self.reach(
                Held::Subject(Subject::Group(name.clone())),
                self.rights(&pair),
            );
        }
    }

    /// The namespaces that objects are in.
    fn namespaces(&self) -> Vec<Arc<str>> {
        let accounts = self
            .grants
            .accounts
            .iter()
            .filter_map(|account| match account {
                Subject::Account(namespace, _) => Some(namespace.clone()),
                _ => None,
            });
        let mut all: Vec<Arc<str>> = accounts.collect();
        all.dedup();
        all
    }

    /// Gives oneself roles.
    fn bind(&mut self, kind: &str, bind: &Scope, namespace: Option<&Arc<str>>, pair: [usize; 2]) {
        if bind.names.is_empty() {
            match (kind, namespace) {
                ("ClusterRole", None) => self.reach(Held::ClusterAdmin, self.rights(&pair)),
                ("ClusterRole", Some(namespace)) => {
                    self.reach(Held::Namespace(namespace.clone()), self.rights(&pair));
                }
                _ => {
                    let roles = self.grants.by_role.iter();
                    let mut own: Vec<usize> = roles
                        .filter(|((kind, of, _), _)| &**kind == "Role" && of.as_ref() == namespace)
                        .map(|(_, &role)| role)
                        .collect();
                    own.sort_unstable();
                    for role in own {
                        let held = Held::Role(role, namespace.cloned());
                        self.reach(held, self.rights(&pair));
                    }
                }
            }
            return;
        }
        for name in &bind.names {
            let within = namespace.filter(|_| kind == "Role");
            if let Some(role) = self.grants.role_named(kind, within, name) {
                let held = Held::Role(role, namespace.cloned());
                self.reach(held, self.rights(&pair));
            }
        }
    }

    /// Where a role is bound to somebody one can act as, and can be written: namespaces, or the whole cluster as `""`.
    fn written(&self, scope: &Scope, namespaced: bool) -> Vec<Arc<str>> {
        let mut found = Vec::new();
        for origin in &self.origins {
            let Held::Subject(subject) = &origin.held else {
                continue;
            };
            for binding in self.grants.bindings_of(subject) {
                let Some(binding) = self.grants.bindings.get(binding) else {
                    continue;
                };
                let Some(role) = self.grants.roles.get(binding.role) else {
                    continue;
                };
                let fits = match (namespaced, &binding.namespace) {
                    (true, Some(namespace)) => {
                        &*role.kind == "Role" && scope.has_namespace(namespace)
                    }
                    (false, None) => &*role.kind == "ClusterRole",
                    _ => false,
                };
                if fits && scope.has_name(&role.name) {
                    found.push(binding.namespace.clone().unwrap_or_else(|| "".into()));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether a right leads further with another one.
fn needs_others(power: &Power) -> bool {
    match power {
        Power::Everything | Power::Pods(_) => false,
        Power::Accounts(_)
        | Power::ReadSecrets(_)
        | Power::MakeSecrets(_)
        | Power::BindClusterRoles(_)
        | Power::BindRoles(_)
        | Power::MakeBindings(_)
        | Power::MakeClusterBindings
        | Power::EscalateRoles(_)
        | Power::WriteRoles(_)
        | Power::EscalateClusterRoles
        | Power::WriteClusterRoles(_)
        | Power::Users(_)
        | Power::Groups(_)
        | Power::RequestCertificates
        | Power::ApproveRequests
        | Power::ApproveSigner => true,
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
