/**
 * OCCI platform: applications, the components they consist of, and the links between them.
 * Attributes and actions are left out.
 *
 * Source: INRIA research report 9317, section 4.3, after the OCCI platform specification, OGF GFD.227.
 */
module occi/platform

open occi/core

sig Application extends Resource {}

sig Component extends Resource {}

sig ComponentLink extends Link {} {
  source in Application + Component
  target in Component
}

run Model {} expect 1

run OneConfigurationWithOneApplicationTwoComponent {
  Resource in Configuration.resources
  ComponentLink in Application.links
} for 20 but exactly 1 Configuration, exactly 1 Application, exactly 2 Component,
  exactly 2 ComponentLink expect 1
