"""Heat's own offline validation of templates: its path for `template-validate`, without any service.

Prints, for each template that Heat can be asked about, the least seconds of three rounds and the path. Reading
the file and starting Python are not counted.
"""

import sys
import time

from heat.common import context, exception, template_format
from heat.engine import environment, resource, resources, stack, template
from oslo_log import log as logging


def main():
    logging.getLogger(None).logger.disabled = True
    resources.initialise()
    resource.Resource.is_service_available = classmethod(lambda cls, _: (True, None))
    # A request that is nobody's: nothing is asked of any service.
    request = context.RequestContext(
        username="bench", user_id="bench", project_id="bench", is_admin=False
    )
    least = {}
    # In rounds, so that what Heat loads when it first meets a type is counted for none of them.
    for path in sys.argv[1:] * 3:
        with open(path) as file:
            text = file.read()
        start = time.perf_counter()
        try:
            content = template_format.parse(text)
            if "resources" not in content and "Resources" not in content:
                continue
            parsed = template.Template(content, env=environment.Environment())
            parsed.validate()
            stack.Stack(request, "dummy", parsed, strict_validate=False).validate(
                ignorable_errors=[], validate_res_tmpl_only=True
            )
        except ValueError:  # not a template
            continue
        except exception.HeatException:  # a refusal is an answer too
            pass
        seconds = time.perf_counter() - start
        least[path] = min(seconds, least.get(path, seconds))
    for path, seconds in least.items():
        print(seconds, path)


if __name__ == "__main__":
    main()
