//! What is no template, and that nothing panics.

use super::*;

#[test]
fn what_is_no_template_is_said_plainly() {
    let cases = [
        ("", "1:1: empty: this file is empty"),
        ("# nothing\n", "1:1: empty: this file is empty"),
        (
            "- a\n",
            "1:1: shape: a template is a map of sections, but this is a list",
        ),
        (
            "hello\n",
            "1:1: shape: a template is a map of sections, but this is a string",
        ),
        (
            "heat_template_version: rocky\nresources: [a]\n",
            "2:12: shape: the section `resources` is a map from names, but this is a list",
        ),
        (
            "heat_template_version: rocky\nresources:\n  a: text\n",
            "3:6: shape: the resource `a` is a map with a `type`, but this is a string",
        ),
        (
            "heat_template_version: rocky\nresources:\n  a: {properties: {}}\n",
            "3:3: shape: the resource `a` has no type",
        ),
        (
            "heat_template_version: rocky\noutputs:\n  a: {description: x}\n",
            "3:3: shape: the output `a` has no value",
        ),
        (
            "heat_template_version: rocky\nparameters:\n  a: string\n",
            "3:6: shape: the parameter `a` is a map with a `type`, but this is a string",
        ),
        (
            "heat_template_version: rocky\n---\na: 1\n",
            "3:1: shape: a template is one document, but this file has several",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(load_text(text).diagnostics(), [expected], "{text}");
    }
}

#[test]
fn ten_errors_are_ten_findings_in_one_run() {
    let case = load_text(
        "\
heat_template_version: 2018-08-31
parameters:
  a: {type: strng}
resources:
  one: {type: OS::Nova::Servr}
  two: {type: OS::Nova::Server, properties: {flavour: x}}
  three: {type: OS::Neutron::Net, depends_on: nothing}
  four: {type: OS::Neutron::Net, properties: {name: {get_param: b}}}
  five: {type: OS::Neutron::Net, properties: {name: {get_parm: a}}}
  six: {type: OS::Neutron::Net, properties: {shared: perhaps}}
  seven: {type: OS::Neutron::Subnet, properties: {network: x, cidr: 10.0.0.0/40}}
  eight: {type: OS::Neutron::Net, propertys: {}}
outputs:
  x: {value: {get_attr: [three, nothing]}}
",
    );
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
    let unmarked = |sig: &str, subset: &str| {
        let known: BTreeSet<String> = case.atoms(subset).into_iter().collect();
        let all = case.atoms(sig).into_iter();
        all.filter(|atom| !known.contains(atom))
            .collect::<Vec<String>>()
    };
    let mut found = unmarked("ParameterType", "KnownParameterType");
    found.extend(unmarked("TypeName", "KnownType"));
    found.extend(case.without("PropertyUse", "PropertyUse", "declared"));
    found.extend(case.tuples("Resource", "lacks"));
    found.extend(case.without("Reference", "Reference", "target"));
    found.extend(case.tuples("SuspectCall", "meant"));
    found.extend(case.tuples("PropertyUse", "mistyped"));
    found.extend(case.tuples("PropertyUse", "violates"));
    found.extend(case.atoms("ForeignKey"));
    found.extend(unmarked("AttributeName", "KnownAttribute"));
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn large_templates_stay_linear_in_size() {
    let text = |n: usize| {
        let mut body = String::from("  net: {type: OS::Neutron::Net}\n");
        for i in 0..n {
            let _ = writeln!(
                body,
                "  p{i}: {{type: OS::Neutron::Port, properties: {{network: {{get_resource: net}}}}}}"
            );
        }
        resources(&body)
    };
    let case = load_text(&text(2000));
    assert_eq!(case.loaded.graph.bindings().len(), 2000);
    assert_eq!(case.diagnostics(), [] as [&str; 0]);
}

/// Every span of the result lies within its file.
fn spans_are_in_range(case: &Case) {
    let check = |span: Span| {
        let text = case.sources.text(span.file);
        assert!(
            text.get(span.start as usize..span.end as usize).is_some(),
            "{span:?} of {text:?}"
        );
    };
    for (_, atom) in case.loaded.facts.atoms() {
        check(atom.span);
    }
    for (_, location) in case.loaded.graph.locations() {
        check(location.origin.span);
        location.properties.iter().for_each(|field| {
            check(field.key);
            check(field.item.span);
        });
    }
    for diagnostic in &case.loaded.diagnostics {
        diagnostic.labels.iter().for_each(|label| check(label.span));
    }
}

fn fragment() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("null".to_owned()),
        Just("1".to_owned()),
        Just("{get_resource: r0}".to_owned()),
        Just("{get_param: p}".to_owned()),
        Just("{get_attr: [r0, name]}".to_owned()),
        Just("{Ref: p}".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("$.data.x.sum()".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let names = prop_oneof![
            Just("get_param"),
            Just("get_attr"),
            Just("get_file"),
            Just("str_replace"),
            Just("str_split"),
            Just("list_join"),
            Just("list_concat"),
            Just("list_concat_unique"),
            Just("map_merge"),
            Just("map_replace"),
            Just("repeat"),
            Just("filter"),
            Just("digest"),
            Just("make_url"),
            Just("contains"),
            Just("if"),
            Just("equals"),
            Just("yaql"),
            Just("not"),
            Just("and"),
            Just("template"),
            Just("params"),
            Just("for_each"),
            Just("expression"),
            Just("data"),
            Just("networks"),
            Just("type"),
            Just("properties"),
        ];
        prop_oneof![
            (names, inner.clone()).prop_map(|(name, arg)| format!("{{{name}: {arg}}}")),
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("{{template: {a}, params: {b}, for_each: {b}}}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_loaded_without_panic(text in "(?s).{0,120}") {
        spans_are_in_range(&load_text(&text));
    }

    #[test]
    fn any_call_is_evaluated_without_panic(
        value in fragment(),
        condition in fragment(),
        ty in prop_oneof![
            Just("OS::Heat::Value"), Just("OS::Nova::Server"), Just("OS::Heat::ResourceGroup"),
            Just("OS::Heat::AutoScalingGroup"), Just("OS::Neutron::Port"), Just("x.yaml"),
        ],
        property in prop_oneof![
            Just("value"), Just("networks"), Just("resource_def"), Just("count"), Just("fixed_ips"),
        ],
    ) {
        let text = format!(
            "heat_template_version: 2021-04-16\nparameters:\n  p: {{type: json}}\nconditions:\n  c: \
             {condition}\nresources:\n  r0: {{type: OS::Neutron::Net, condition: c}}\n  r1:\n    type: \
             {ty}\n    properties:\n      {property}: {value}\noutputs:\n  o: {{value: {value}}}\n"
        );
        spans_are_in_range(&load_text(&text));
    }
}

#[test]
fn arguments_that_heat_refuses_are_stated() {
    let cases = [
        (
            "{str_replace_strict: {template: a-b, params: {a: 1, c: 2}}}",
            Some("`c` is not in the text"),
        ),
        (
            "{str_replace_strict: {template: a-b, params: {a: 1, b: ''}}}",
            None,
        ),
        (
            "{str_replace_vstrict: {template: a-b, params: {a: 1, b: ''}}}",
            Some("`b` has no value"),
        ),
        ("{digest: [md6, x]}", Some("there is no algorithm `md6`")),
        ("{digest: [SHA3_256, x]}", None),
        // What is not known may be right.
        (
            "{str_replace_strict: {template: {get_attr: [other, value]}, params: {c: 2}}}",
            None,
        ),
    ];
    for (function, problem) in cases {
        let case = load_text(&format!(
            "heat_template_version: 2021-04-16
resources:
  other:
    type: OS::Heat::RandomString
  v:
    type: OS::Heat::Value
    properties:
      value: {function}
"
        ));
        let told = case.atoms("Problem");
        let told: Vec<&str> = told
            .iter()
            .filter_map(|atom| Some(atom.split_once(" @")?.0))
            .collect();
        let expected: Vec<&str> = problem.into_iter().collect();
        assert_eq!(told, expected, "{function}");
    }
}
