from elementwise import *  # noqa: F403
