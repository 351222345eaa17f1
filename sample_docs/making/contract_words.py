"""The words of the long contract: its fixed pages, its articles, and the sentences that clauses are built from."""

from __future__ import annotations

TITLE = "MASTER SERVICES AGREEMENT"
REFERENCE = "MSA-2026-0117"
CUSTOMER = "Aldermoor Logistics Limited"
SUPPLIER = "Quillfen Systems Limited"
EFFECTIVE_DATE = "1 March 2026"
TERM = "five (5) years"
NOTICE = "ninety (90) days"
LAW = "England and Wales"

OPENING = (
    (
        f'This Master Services Agreement, reference {REFERENCE} (the "Agreement"), is made between the parties named '
        f'below and takes effect on {EFFECTIVE_DATE} (the "Effective Date").'
    ),
    (
        f"(1) {CUSTOMER}, a company incorporated in {LAW} with company number 00000117, whose registered office is at "
        'Aldermoor House, 9 Wharf Approach, Port Sedgewick PS1 4AA (the "Customer"); and'
    ),
    (
        f"(2) {SUPPLIER}, a company incorporated in {LAW} with company number 00000226, whose registered office is at "
        'The Glasshouse, 31 Fenner Street, Quillfen QF2 8ZZ (the "Supplier").'
    ),
    "Background",
    (
        "(A) The Customer runs warehouses, a fleet of vehicles and a network of parcel depots, and depends on "
        "software to plan, follow and account for what moves through them."
    ),
    (
        "(B) The Supplier designs, hosts and supports software of that kind and has told the Customer that it has "
        "the people, the equipment and the experience that this needs."
    ),
    (
        "(C) The Customer has chosen the Supplier after a competitive procedure, relying on the written answers "
        "that the Supplier gave in it, and both wish to set out in one document the terms on which they will work "
        "together."
    ),
    "The parties agree as follows, on this page and on the pages after it, including the schedules.",
)
KEY_TERMS = (
    f"Effective Date: {EFFECTIVE_DATE}.",
    (
        f"Initial term: this Agreement begins on the Effective Date and continues for an initial term of {TERM}, and "
        "after that from year to year until it is ended."
    ),
    (
        f"Notice period: either party may end this Agreement at the end of the initial term, or of any later year, by "
        f"giving the other at least {NOTICE} written notice."
    ),
    (
        "Charges: the Customer shall pay GBP 1,284,000.00 for each contract year in twelve equal instalments, "
        "exclusive of value added tax, each within thirty (30) days of a valid invoice."
    ),
    "Liability cap: 125 per cent of the Charges paid or payable in the contract year in which the claim arose.",
    "Customer representative: Ms Imogen Tarrant, Director of Operations.",
    "Supplier representative: Mr Caspian Oduya-Wells, Head of Client Services.",
    f"Governing law: the laws of {LAW}.",
    (
        "In this Agreement a reference to a statute is to it as amended, the singular includes the plural, "
        "headings are for convenience only, and the word 'including' does not limit the words before it."
    ),
    (
        "Where the schedules and the articles disagree, the articles prevail; where an article and this page "
        "disagree, this page prevails."
    ),
)
FINAL = (
    "Final provisions",
    (
        "F.1 Entire agreement. This Agreement is all that the parties have agreed about its subject and replaces "
        "every earlier draft, understanding and promise. Neither party has relied on anything that is not written "
        "in it."
    ),
    (
        "F.2 Variation. A change binds the parties only if it is in writing, refers to this Agreement by its "
        "reference and is signed by an authorised representative of each."
    ),
    (
        "F.3 Severance. If a court finds a provision to be invalid, the remaining provisions stay in force, and "
        "the parties shall replace the invalid one with a valid one that comes as close as possible to its "
        "purpose."
    ),
    "F.4 Third parties. Nobody who is not a party may enforce a term of this Agreement.",
    (
        f"F.5 Governing law. This Agreement, and any dispute or claim arising out of or in connection with it, "
        f"including non-contractual ones, is governed by and construed in accordance with the laws of {LAW}."
    ),
    f"F.6 Jurisdiction. The courts of {LAW} have exclusive jurisdiction to settle any such dispute or claim.",
    (
        "F.7 Counterparts. This Agreement may be signed in any number of counterparts, also electronically, all "
        "of which together are one document."
    ),
)
SIGNATURES = (
    "Signatures",
    (
        "Signed by the authorised representatives of the parties. The Agreement takes effect on the Effective "
        "Date, whatever the day on which it is signed."
    ),
    "",
    f"For and on behalf of {CUSTOMER}",
    "",
    "Signature: ________________________________",
    "Name: Imogen Tarrant",
    "Position: Director of Operations",
    "Date: 24 February 2026",
    "",
    "",
    f"For and on behalf of {SUPPLIER}",
    "",
    "Signature: ________________________________",
    "Name: Caspian Oduya-Wells",
    "Position: Head of Client Services",
    "Date: 26 February 2026",
)

# Each article: its title, then the things that its clauses are about.
ARTICLES = tuple(
    (title, tuple(things.split("; ")))
    for title, things in (
        (
            "Scope of the services",
            "the hosted platform; the route planner; the depot terminal; the service description",
        ),
        (
            "Standards of performance",
            "the service levels; good industry practice; the operating manual; the skill matrix",
        ),
        ("Mobilisation", "the mobilisation plan; the pilot depots; the readiness checklist; the cut-over weekend"),
        ("Acceptance", "the acceptance tests; the defect list; the test data; the acceptance certificate"),
        ("Personnel", "the key personnel; the duty roster; the vetting records; the named engineers"),
        ("Premises and access", "the depots; the visitor passes; the plant rooms; the site rules"),
        ("Customer responsibilities", "the customer data feeds; the local networks; the approvals; the staff rota"),
        ("Charges", "the charges; the rate card; the volume bands; the reimbursable expenses"),
        (
            "Invoicing and payment",
            "the monthly invoice; the supporting timesheets; the disputed items; the credit notes",
        ),
        ("Benchmarking", "the benchmark report; the comparison group; the adjusted rates; the benchmark adviser"),
        ("Service credits", "the service credits; the earn-back scheme; the monthly score; the critical failures"),
        ("Reporting", "the performance report; the dashboards; the raw measurements; the exception log"),
        ("Governance", "the steering group; the escalation ladder; the action register; the quarterly review"),
        ("Change control", "the change request; the impact assessment; the change log; the approved budget"),
        ("Software licences", "the licensed software; the licence metrics; the source code; the release notes"),
        (
            "Open source components",
            "the component inventory; the licence notices; the patched libraries; the build scripts",
        ),
        ("Intellectual property", "the project materials; the background rights; the templates; the interface designs"),
        ("Escrow", "the escrow deposit; the verification report; the release events; the escrow agent's fees"),
        ("Confidentiality", "the confidential information; the marked documents; the advisers; the clean-desk rules"),
        ("Personal data", "the personal data; the processing register; the sub-processors; the transfer assessment"),
        ("Information security", "the security plan; the access rights; the encryption keys; the penetration tests"),
        ("Incident response", "the incident record; the root cause report; the on-call bridge; the forensic images"),
        ("Business continuity", "the continuity plan; the standby site; the recovery drill; the call tree"),
        ("Backups and retention", "the backup sets; the retention schedule; the restore tests; the archived media"),
        ("Audit", "the audit programme; the accounting records; the sample vouchers; the audit findings"),
        ("Compliance", "the compliance calendar; the permits; the training records; the sanctions screening"),
        ("Anti-bribery", "the gifts register; the whistleblowing line; the due diligence files; the agents' contracts"),
        ("Health and safety", "the risk assessments; the protective equipment; the accident book; the toolbox talks"),
        ("Environment", "the waste records; the energy readings; the recycled hardware; the travel plan"),
        ("Subcontracting", "the approved subcontractors; the flow-down terms; the subcontract register; the pay terms"),
        ("Insurance", "the policies of insurance; the broker's letter; the claims history; the excess amounts"),
        ("Warranties", "the warranted functions; the virus checks; the interface documents; the stated capacity"),
        ("Indemnities", "the indemnified claims; the conduct of the defence; the settlement offers; the legal costs"),
        ("Limits of liability", "the liability cap; the heads of loss; the excluded losses; the mitigation steps"),
        ("Force majeure", "the affected obligations; the workaround; the relief notice; the alternative carriers"),
        ("Step-in", "the step-in notice; the critical services; the step-in team; the handback plan"),
        ("Disputes", "the dispute notice; the position papers; the appointed expert; the mediation day"),
        ("Exit and transfer", "the exit plan; the transferable assets; the knowledge sessions; the data extracts"),
        ("Transferring staff", "the staff lists; the pension records; the consultation; the transfer costs"),
        ("Notices and records", "the notice addresses; the contract library; the record copies; the numbering scheme"),
    )
)
WORDS = {
    "party": ("The Supplier", "The Customer", "Each party", "The Supplier's representative"),
    "lower": ("the Supplier", "the Customer", "either party", "the party in charge", "the person concerned"),
    "other": ("the other party", "the contract managers", "the steering group", "everybody affected"),
    "duty": (
        "maintain",
        "review",
        "keep up to date",
        "make available",
        "document",
        "protect",
        "correct",
        "account for",
        "test",
        "publish",
        "hand over",
        "preserve",
        "approve",
        "measure",
        "explain",
        "support",
    ),
    "done": (
        "reviewed",
        "completed",
        "withdrawn",
        "approved",
        "amended",
        "measured",
        "delivered",
        "suspended",
        "renewed",
        "inspected",
        "replaced",
        "recorded",
    ),
    "manner": (
        "with reasonable skill and care",
        "at its own cost",
        "in the form that the parties have agreed",
        "without undue delay",
        "in a manner that others can verify",
        "as the operating manual describes",
        "using people who are trained for it",
        "so that no depot has to close for it",
        "in good faith",
        "separately for each depot",
        "as a prudent operator of similar services would",
        "in plain English",
    ),
    "limit": (
        "within two (2) working days",
        "within five (5) working days",
        "by the tenth day of the month",
        "no later than noon on the next working day",
        "before the end of the quarter",
        "at least once in each half year",
        "within one (1) hour during operating hours",
        "before the next meeting of the steering group",
        "within fourteen (14) days",
        "as soon as it becomes aware of it",
        "twice in each contract year",
    ),
    "event": (
        "a depot is opened, moved or closed",
        "volumes exceed the forecast by more than fifteen per cent",
        "a regulator asks for information",
        "a measurement is missing or cannot be relied on",
        "a third party makes a claim",
        "the same fault occurs three times in a quarter",
        "a named person leaves",
        "the approved budget would be exceeded",
        "a release is postponed",
        "an error is found in a report",
        "an interface of a carrier changes",
        "industrial action is announced",
    ),
    "limitation": (
        "unless the parties agree otherwise in writing",
        "save to the extent that the law forbids it",
        "except during planned maintenance",
        "provided that nobody's safety is put at risk",
        "even if the amount in question is small",
        "whether or not a service credit is due",
        "subject to the duties of confidence in this Agreement",
        "except where the delay was caused by the other party",
        "and no silence is to be read as consent",
        "without prejudice to any other remedy",
    ),
    "purpose": (
        "to show that the services were performed",
        "to calculate the charges",
        "to let a successor take over",
        "to find out why it happened",
        "to meet a request of an auditor",
        "to keep the depots working",
        "to prevent the same event from happening again",
        "to compare one quarter with the last",
        "to answer a question of an insurer",
        "to plan the capacity that the coming season needs",
    ),
    "result": (
        "the cost is borne by the party that caused it",
        "the timetable is extended by the days that were lost",
        "the matter goes to the next level of the escalation ladder",
        "the earlier version continues to apply",
        "a corrected copy replaces the first one",
        "the item is entered in the action register",
        "the parties meet and agree a plan in writing",
        "the Customer may withhold the part in dispute",
        "the Supplier performs the work again free of charge",
        "the decision and its reasons are minuted",
    ),
    "head": (
        "Maintenance",
        "Evidence",
        "Timing",
        "Cooperation",
        "Costs",
        "Exceptions",
        "Records",
        "Approval",
        "Correction",
        "Escalation",
        "Transparency",
        "Continuity",
        "Substitution",
        "Verification",
        "Information",
        "Priority",
    ),
}
SENTENCES = (
    "{party} shall {duty} {thing} {manner}, {limitation}.",
    "Where {event}, {lower} shall {duty} {thing} {limit} and inform {other} {manner}.",
    "If {event}, {result}; in that case {thing} shall be {done} {limit}.",
    "{party} shall {duty} and, where it is needed {purpose}, {duty2} {thing} {limit}.",
    "Nothing in this clause obliges {lower} to {duty} {thing} after it has {done} {thing2}, {limitation}.",
    "{party} may ask that {thing} be {done} {limit} if this is needed {purpose}.",
    "Copies of {thing} shall be given to {other} {limit}, {limitation}.",
    "Until {lower} has {done} {thing}, {result}, {limitation}.",
    "{party} shall not refuse to {duty} {thing} only because {event}.",
    "In deciding whether {thing} should be {done}, {lower} shall take into account {thing2} and whether {event}.",
    "A failure to {duty} {thing} {limit} counts as one failure, however many depots it affects, and {result}.",
    "{party} shall {duty} {thing} together with {thing2} {purpose}, and shall do so {manner}.",
)
LIST_INTRODUCTION = "{party} shall, {limit} and {manner}:"
LIST_ITEMS = (
    "{duty} {thing} {purpose};",
    "{duty} {thing} whenever {event};",
    "tell {other} {limit} that it has {done} {thing};",
    "where {event}, {duty} {thing} {manner};",
)
LIST_END = "{duty} {thing} {limit}, {limitation}."
